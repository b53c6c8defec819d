package org.mdlagent.profiler.report.profile;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/// The calls of one function by another, in a sampled session.
///
/// @param caller  null for code without probes, for unknown code, and for the callers of a function that has
///     too many of them to keep apart
/// @param calls   number of calls, estimated
/// @param nanos   time in these calls, estimated, without the overhead of timing
/// @param samples calls that reported their caller
/// @param error   relative half-width of the 95 % interval of `calls`; empty if unknown
public record CallEdge(
        @Nullable FunctionProfile caller,
        FunctionProfile callee,
        long calls,
        long nanos,
        long samples,
        OptionalDouble error) {}
