package org.mdlagent.runtime.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What cannot be probed is not told as if all were well.
class CensusFindingsTest {
    private static final int MB = 1 << 20;

    @Test
    void shouldSayThatAProgramIsInReach() {
        assertThat(said(census(900, 1000, 9 * MB, 8 * MB, 10 * MB)))
                .startsWith(
                        "OK probes in 900 of 1,000 functions, as they are: a jump takes the place of one instruction in 900, of several in 0",
                        "OK reach 90.0 % of the functions, with 80.0 % of 10 MB of code");
    }

    /// As a compiler does that makes no unwind tables which tell where the return address is.
    @Test
    void shouldSayThatFewFunctionsCanBeProbed() {
        assertThat(said(census(1784, 129_056, 60 * MB, MB, 61 * MB)))
                .startsWith(
                        "NOTE probes in 1,784 of 129,056 functions, as they are: a jump takes the place of one instruction in 1,784, of several in 0",
                        "NOTE reach 1.4 % of the functions, with 1.6 % of 61 MB of code: the rest is out of reach");
    }

    /// Of a large program without unwind tables for most of it, those functions are few that are known at all.
    @Test
    void shouldSayThatMostOfTheCodeIsInNoKnownFunction() {
        assertThat(said(census(8_810, 9_000, 3 * MB, 2 * MB, 297 * MB)))
                .contains("NOTE reach 97.9 % of the functions, with 0.7 % of 297 MB of code: the rest is out of reach;"
                        + " 99.0 % of the code is in no function that an unwind table or a symbol describes");
    }

    @Test
    void shouldStopWhereNothingCanBeProbed() {
        assertThat(said(census(0, 5, MB, 0, MB)).getFirst()).startsWith("STOP probes in 0 of 5 functions");
    }

    private static EntryCensus census(int probed, int functions, long functionBytes, long probedBytes, long codeBytes) {
        return new EntryCensus(
                functions, probed, 0, 0, Map.of(), 0, 0, functionBytes, probedBytes, codeBytes, null, Map.of());
    }

    private static List<String> said(EntryCensus census) {
        List<String> lines = new ArrayList<>();
        CensusFindings.say(census, (finding, subject, text) -> lines.add(finding + " " + subject + " " + text));
        return lines;
    }
}
