package org.mdlagent.runtime;

/// Something that the command line may ask of the agent, by its name in [Control]. It runs on the agent's thread,
/// between two epochs.
interface Command {
    /// Executes a request.
    ///
    /// @param arguments what follows the command's name, without blanks around it
    /// @return lines for whoever asked, each with its end; "" for none
    /// @throws IllegalArgumentException when the request is wrong, with a message for the person who wrote it
    String execute(String arguments);
}
