package org.mdlagent.profiler.report.profile;

import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/// The calls of one function by another, in a sampled session.
///
/// @param caller  null for code without probes, code of which nothing is known, and the callers of a function that has
///     too many of them to be told apart
/// @param calls   how often, estimated
/// @param nanos   time in these calls, estimated, without what timing adds to each
/// @param samples calls that have told their caller
/// @param error   half the interval of 95 % of `calls`, relative to them; empty where it is not known
public record CallEdge(
        @Nullable FunctionProfile caller,
        FunctionProfile callee,
        long calls,
        long nanos,
        long samples,
        OptionalDouble error) {}
