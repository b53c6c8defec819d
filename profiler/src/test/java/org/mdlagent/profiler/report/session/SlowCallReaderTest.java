package org.mdlagent.profiler.report.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mdlagent.arch.layout.SlowCallDescriptor;
import org.mdlagent.arch.layout.SlowCallsDescriptor;
import org.mdlagent.profiler.report.file.SessionFormatException;
import org.mdlagent.profiler.report.format.JsonReport;
import org.mdlagent.profiler.report.format.SlowCallsTable;
import org.mdlagent.profiler.report.format.TraceReport;
import org.mdlagent.profiler.report.page.HtmlReport;
import org.mdlagent.profiler.report.profile.EventCounts;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.ProfileOrder;
import org.mdlagent.profiler.report.profile.SlowCall;
import org.mdlagent.profiler.report.slice.Timeline;

class SlowCallReaderTest {
    private static final long MILLI = 1_000_000;
    private static final int TID = 101;

    @TempDir
    private Path directory;

    private final SessionImage image = SessionImage.pathsSample();
    private final long table = image.slowCalls(10 * MILLI);

    private record Read(Profile profile, SlowCall.All slow) {}

    private Read read() throws IOException {
        image.write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            Profile profile = reader.profile();
            return new Read(profile, reader.slowCalls(profile));
        }
    }

    private void call(int function, long start, long end, long cpu) {
        image.slowCall(table, TID, function, start * MILLI, end * MILLI, 10 * MILLI, cpu * MILLI);
    }

    /// `main` called `work`, which called `leaf` twice; `rec` came before. Another thread ran meanwhile.
    private void request() {
        call(3, 70, 81, 11);
        image.slowCall(table, 102, 1, 95 * MILLI, 120 * MILLI, 10 * MILLI, -1);
        call(2, 101, 105, 4);
        call(2, 110, 129, 1);
        call(1, 100, 130, 7);
        call(0, 90, 131, 10);
    }

    @Test
    void shouldMakeTreesOfEachThreadsCalls() throws IOException {
        request();

        SlowCall.All slow = read().slow();

        assertThat(slow.count()).isEqualTo(5);
        assertThat(slow.thresholdNanos()).isEqualTo(10 * MILLI);
        assertThat(slow.calls()).extracting(call -> call.function().name()).containsExactly("rec", "main", "work");
        SlowCall main = slow.calls().get(1);
        assertThat(main.tid()).isEqualTo(TID);
        assertThat(main.nanos()).isEqualTo(41 * MILLI);
        assertThat(main.ownNanos()).isEqualTo(11 * MILLI);
        assertThat(main.waitNanos()).isEqualTo(OptionalLong.of(31 * MILLI));
        SlowCall work = main.callees().getFirst();
        assertThat(work.callees()).extracting(SlowCall::nanos).containsExactly(4 * MILLI, 19 * MILLI);
        assertThat(work.callees()).extracting(SlowCall::slow).containsExactly(false, true);
        assertThat(slow.calls().get(2).tid()).isEqualTo(102);
        assertThat(slow.calls().get(2).waitNanos()).isEmpty();
    }

    @Test
    void shouldShowTheRequestsOfALoopInItsPlace() throws IOException {
        for (int i = 0; i < 5; i++) {
            call(2, 100 + 20 * i, 112 + 20 * i, 1);
        }
        call(0, 90, 220, 5);

        assertThat(read().slow().requests())
                .extracting(call -> call.function().name())
                .containsOnly("leaf")
                .hasSize(5);
    }

    @Test
    void shouldTellWhereTheInnermostCallWaited() throws IOException {
        request();
        // The second node is the path main, work; the third is main, work, leaf.
        image.slowWait(table, TID, 2, 103 * MILLI, 104 * MILLI);
        image.slowWait(table, TID, 3, 115 * MILLI, 127 * MILLI);
        image.slowWait(table, 102, 3, 110 * MILLI, 115 * MILLI);
        image.slowWait(table, 7, 1, 110 * MILLI, 115 * MILLI);

        SlowCall work = read().slow().calls().get(1).callees().getFirst();

        assertThat(work.waits()).isEmpty();
        assertThat(work.callees().get(1).waits())
                .singleElement()
                .satisfies(wait -> assertThat(wait.untilNanos()).isEqualTo(127 * MILLI));
    }

    @Test
    void shouldLeaveRecordsOutThatAreBeingWritten() throws IOException {
        request();
        image.putInt(image.slowLogAt(table) + 5 * SlowCallDescriptor.SIZE + SlowCallDescriptor.SEQ, 0);

        assertThat(read().slow().calls())
                .extracting(call -> call.function().name())
                .containsExactly("rec", "work", "work");
    }

    @Test
    void shouldKnowTheNewestWhenTheLogHasBeenOverwritten() throws IOException {
        image.putLong(table + SlowCallsDescriptor.NEXT, 3L * SlowCallDescriptor.SLOW_LOG);
        request();

        assertThat(read().slow().calls()).hasSize(3);
    }

    @Test
    void shouldRefuseDamage() {
        image.slowCall(table, TID, -7, 1, 2, 10 * MILLI, 1);

        assertThatThrownBy(this::read)
                .isInstanceOf(SessionFormatException.class)
                .hasMessageContaining("a slow call is of function -7");
    }

    @Test
    void shouldHaveNoneInOtherSessions() throws IOException {
        SessionImage.pathsSample().write(directory);
        try (SessionReader reader = SessionReader.open(directory)) {
            assertThat(reader.slowCalls(reader.profile())).isEqualTo(SlowCall.All.NONE);
        }
    }

    @Test
    void shouldShowTreesWithTimesAndPlaces() throws IOException {
        request();
        image.slowWait(table, TID, 4, 115 * MILLI, 127 * MILLI);
        StringBuilder out = new StringBuilder();

        new SlowCallsTable(2, false).write(read().slow(), out);
        assertThat(out.toString()).isEqualTo("""

                5 slow calls of 10ms or more
                      TIME        OWN     WAITED  CALL
                      25ms       25ms          ?  work at 0.095 s in thread 102
                      11ms       11ms          -  rec at 0.070 s in thread 101
                the 2 longest of 3 kept (--limit)
                """);
        out.setLength(0);
        new SlowCallsTable(3, false).write(read().slow(), out);
        assertThat(out.toString()).endsWith("""
                      41ms       11ms       31ms  main at 0.090 s in thread 101
                      30ms      7.0ms       23ms    work
                     4.0ms      4.0ms          -      leaf
                      19ms       19ms       18ms      leaf, in rec < work < main
                """);
    }

    @Test
    void shouldWriteThemAsJsonAsTraceAndIntoThePage() throws IOException {
        request();
        image.slowWait(table, TID, 3, 115 * MILLI, 127 * MILLI);
        Read read = read();
        StringBuilder json = new StringBuilder();
        StringBuilder trace = new StringBuilder();

        JsonReport.write(read.profile, List.of(), List.of(), read.slow, EventCounts.NONE, ProfileOrder.TOTAL, 10, json);
        TraceReport.write(read.profile.session(), TraceReport.calls(read.slow), read.slow, Map.of(), trace);
        StringBuilder page = new StringBuilder();
        HtmlReport.write(read.profile, Timeline.NONE, List.of(), read.slow, List.of(), ProfileOrder.TOTAL, 10, page);

        JsonNode slow = new ObjectMapper().readTree(json.toString()).get("slow");
        assertThat(slow.get("count").asInt()).isEqualTo(5);
        assertThat(page.toString().replaceAll("\\s", "")).contains("\"slow\":{\"count\":5,");
        JsonNode main = slow.get("calls").get(2);
        assertThat(main.get("function").asText()).isEqualTo("main");
        assertThat(main.get("waitedNanos").asLong()).isEqualTo(31 * MILLI);
        assertThat(main.get("callees")
                        .get(0)
                        .get("callees")
                        .get(1)
                        .get("waitedIn")
                        .asText())
                .isEqualTo("its own code");
        JsonNode report = new ObjectMapper().readTree(trace.toString());
        assertThat(report.at("/otherData/about").asText()).startsWith("slow calls");
        assertThat(report.at("/otherData/calls").asInt()).isEqualTo(6);
        assertThat(report.at("/traceEvents"))
                .filteredOn(event -> event.get("ph").asText().equals("X"))
                .filteredOn(event -> event.get("name").asText().equals("main"))
                .singleElement()
                .satisfies(event ->
                        assertThat(event.at("/args/waited, ms").asDouble()).isEqualTo(31));
    }
}
