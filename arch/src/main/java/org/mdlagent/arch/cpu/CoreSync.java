package org.mdlagent.arch.cpu;

/// Tells when every core that runs this process fetches what has been stored to code.
///
/// A patcher takes a ticket after its stores; when the ticket is past, a core that executes the changed bytes has
/// fetched them after the stores. Any thread may wait for any ticket.
public interface CoreSync {
    /// Stands for all stores to code that the calling thread has made, or seen made, so far.
    long ticket();

    /// Whether the ticket is past. Never waits for time to go by.
    boolean isPast(long ticket);

    /// Returns when the ticket is past.
    void await(long ticket);
}
