package org.mdlagent.runtime.cli.run;

import org.mdlagent.fastinst.provider.KeyedRuntime;

/// What `mdl doctor` reports about the functions of a program that was compiled without probes.
final class CensusFindings {
    /// Minimum share of functions and of code. A profile of less does not represent the program.
    private static final double SHARE_MIN = 0.25;

    private CensusFindings() {}

    static void say(EntryCensus census, Finding.Listener out) {
        KeyedRuntime runtime = census.runtime();
        if (runtime != null && runtime.leftAlone()) {
            out.say(Finding.STOP, "probes", "none: " + runtime.reason());
            return;
        }
        int probed = census.single() + census.several();
        boolean inReach = isInReach(census);
        out.say(
                probed == 0 ? Finding.STOP : inReach ? Finding.OK : Finding.NOTE,
                "probes",
                "in %,d of %,d functions, as they are: a jump takes the place of one instruction in %,d, of several in %,d"
                        .formatted(probed, census.functions(), census.single(), census.several()));
        out.say(inReach ? Finding.OK : Finding.NOTE, "reach", reach(census));
        if (census.longer() > 0) {
            out.say(
                    Finding.NOTE,
                    "longer ones",
                    "of %s of %d bytes and more, %.2f %% can be probed"
                            .formatted(
                                    functions(census.longer()),
                                    EntryCensus.LONGER_BYTES,
                                    100.0 * census.probedLonger() / census.longer()));
        }
        if (census.cut() > 0) {
            out.say(
                    Finding.NOTE,
                    "in steps",
                    "the jump comes and goes in %s, where an atomic unit ends within it"
                            .formatted(functions(census.cut())));
        }
        if (runtime != null) {
            out.say(Finding.NOTE, "calls only", "in all functions: " + runtime.reason() + ": no durations, no callers");
        } else if (!census.counted().isEmpty()) {
            int counted = census.counted().values().stream()
                    .mapToInt(Integer::intValue)
                    .sum();
            out.say(
                    Finding.NOTE,
                    "calls only",
                    "in %s of the probed functions (%s): no durations, no callers"
                            .formatted(percent(counted, probed), functions(counted)));
            census.counted()
                    .forEach((reason, count) ->
                            out.say(Finding.NOTE, "calls only", "in %s: %s".formatted(functions(count), reason)));
        }
        census.refused()
                .forEach((reason, count) ->
                        out.say(Finding.NOTE, "no probe", "in %s: %s".formatted(functions(count), reason)));
    }

    private static boolean isInReach(EntryCensus census) {
        return census.single() + census.several() >= SHARE_MIN * census.functions()
                && census.probedBytes() >= SHARE_MIN * census.codeBytes();
    }

    private static String reach(EntryCensus census) {
        int probed = census.single() + census.several();
        StringBuilder text = new StringBuilder("%s of the functions, with %s of %s of code"
                .formatted(
                        percent(probed, census.functions()),
                        percent(census.probedBytes(), census.codeBytes()),
                        bytes(census.codeBytes())));
        if (!isInReach(census)) {
            text.append(": the rest is out of reach");
            if (census.functionBytes() < census.codeBytes() / 2) {
                text.append("; %s of the code is in no function that an unwind table or a symbol describes"
                        .formatted(percent(census.codeBytes() - census.functionBytes(), census.codeBytes())));
            }
        }
        return text.toString();
    }

    private static String percent(long part, long whole) {
        return "%.1f %%".formatted(whole == 0 ? 0 : 100.0 * part / whole);
    }

    private static String bytes(long bytes) {
        return bytes >= 10 << 20 ? "%,d MB".formatted(bytes >> 20) : "%,d KB".formatted((bytes + 1023) >> 10);
    }

    private static String functions(int count) {
        return "%,d function%s".formatted(count, count == 1 ? "" : "s");
    }
}
