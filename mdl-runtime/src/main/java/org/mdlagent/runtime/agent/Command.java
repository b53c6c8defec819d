package org.mdlagent.runtime.agent;

/// A request that the command line may send to the agent, by its name in [Control]. It runs on the agent's thread,
/// between two epochs.
interface Command {
    /// Executes a request.
    ///
    /// @param arguments text after the command's name, stripped
    /// @return lines of the answer, each with its line end; "" for none
    /// @throws IllegalArgumentException if the request is invalid, with a message for the user
    String execute(String arguments);
}
