package org.mdlagent.client;

import java.util.OptionalDouble;

/// The value of an enabled metric.
///
/// @param request the metric and its focus: `METRIC@FOCUS...`
/// @param title   its name for people
/// @param units   of `amount`
/// @param amount  counted or measured since it was enabled, times in seconds; empty if there is none yet
/// @param seconds since it was enabled; empty if not known
public record Metric(String request, String title, String units, OptionalDouble amount, OptionalDouble seconds) {}
