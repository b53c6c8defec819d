package org.mdlagent.profiler.report.profile;

import java.time.Instant;

/// A range of a session's time, made of time slices.
///
/// @param slices  number of slices in it
/// @param leftOut functions that slices had no room for, summed over slices; those with the least time are
///     left out
public record TimeRange(Instant from, Instant to, int slices, long leftOut) {}
