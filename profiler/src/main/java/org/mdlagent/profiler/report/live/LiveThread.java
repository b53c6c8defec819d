package org.mdlagent.profiler.report.live;

import java.util.OptionalDouble;
import org.mdlagent.profiler.report.profile.ThreadProfile;

/// A thread's recent activity.
///
/// @param whole      its profile since the session began
/// @param rate       calls per second seen since the last look
/// @param cpuPercent of one processor, since the last look; sampled sessions only
public record LiveThread(ThreadProfile whole, double rate, OptionalDouble cpuPercent) {}
