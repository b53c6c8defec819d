package org.mdlagent.arch.shim;

/// What generated recording code needs from the shim: the location of the thread's block, and the slow paths
/// (`mdl/api.h`).
///
/// @param exact      every call is recorded in the thread's rows; else the mean of its function decides
/// @param cpuTime    durations are CPU time, in nanoseconds
/// @param clock      overhead of reading the clock in a timed call, in its unit
/// @param agentState address of the session's state
/// @param tlsOffset  of the word that points to the thread's block, from the thread pointer
/// @param entrySlow  takes site, function address and key
/// @param exitSlow   takes site, function address, key and, in sampled mode, the return address
/// @param recordSlow takes function record, ticks, self ticks and the call's `inside`, if the thread has no row
///     yet
/// @param expireEntry takes the site; sampled mode
/// @param expireExit takes the site; sampled mode
/// @param functionEntrySlow for whole functions; `calls.S` defines its registers and those of the next three
/// @param functionExitSlow  for whole functions
/// @param functionSiblingSlow the same where a sibling call ends the call
/// @param countSlow  for sites that count
/// @param functionEntryCpu for whole functions: reads the thread's CPU clock; 0 if slow calls are not kept
/// @param readCpu    the same at hooks
/// @param clients    where sites have clients
public record RecordingEntryPoints(
        boolean exact,
        boolean cpuTime,
        int clock,
        long agentState,
        int tlsOffset,
        long entrySlow,
        long exitSlow,
        long recordSlow,
        long expireEntry,
        long expireExit,
        long functionEntrySlow,
        long functionExitSlow,
        long functionSiblingSlow,
        long countSlow,
        long functionEntryCpu,
        long readCpu,
        ClientEntryPoints clients) {
    /// Whether slow calls are kept (`slow_calls.h`).
    public boolean keepsSlow() {
        return functionEntryCpu != 0;
    }
}
