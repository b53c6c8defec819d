package org.mdlagent.profiler.report.live;

import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.ThreadProfile;

/// What a thread has done lately.
///
/// @param whole      what the session knows of it
/// @param rate       calls for each second that were seen since the last look
/// @param cpuPercent of a processor, since the last look; sampled sessions only
public record LiveThread(ThreadProfile whole, double rate, OptionalDouble cpuPercent) {}
