package org.mdlagent.profiler.sampled;

import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.cpu.PcSamples;
import org.mdlagent.profiler.records.RingDrain;
import org.mdlagent.profiler.records.SampleWeights;
import org.mdlagent.profiler.tier.ChanceTiming;
import org.mdlagent.profiler.tier.Tiers;

/// What the parts of the sampled profiler share.
///
/// @param budget    the part of the program's time that measuring may cost, above 0 and up to 1
/// @param runLength calls of a function that are recorded together, a power of two
record Sampling(
        NativeApi api,
        Probes probes,
        Readings readings,
        CallEstimates estimates,
        Tiers tiers,
        ChanceTiming chance,
        SampleRuns runs,
        SampleWeights weights,
        Spending spending,
        RingDrain rings,
        PcSamples pcs,
        double budget,
        int runLength,
        double ticksPerNano) {}
