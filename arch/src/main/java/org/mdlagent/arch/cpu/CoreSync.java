package org.mdlagent.arch.cpu;

/// Determines when every core that runs this process fetches the latest stores to code.
///
/// A patcher takes a ticket after its stores. Once the ticket has expired, a core that executes the changed bytes
/// has fetched them after the stores. Any thread may wait for any ticket.
public interface CoreSync {
    /// A ticket for all stores to code that the calling thread has made or seen so far.
    long ticket();

    /// Whether the ticket has expired. Does not wait.
    boolean isPast(long ticket);

    /// Waits until the ticket has expired.
    void await(long ticket);
}
