package org.mdlagent.profiler.report.profile;

import java.time.Instant;

/// A range of a session's time, as slices of it were measured.
///
/// @param slices  that make it
/// @param leftOut functions with less time than others for which these had no room, slice by slice
public record TimeRange(Instant from, Instant to, int slices, long leftOut) {}
