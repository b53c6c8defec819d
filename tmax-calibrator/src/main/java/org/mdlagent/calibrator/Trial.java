package org.mdlagent.calibrator;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.cpu.CpuIdentity;

/// Runs the native measuring program: each call is a separate process, because a trial may kill it.
/// `native-shim/calibrate/trial.c` documents its arguments and output.
final class Trial {
    /// SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV: effects of a wrong instruction.
    private static final Set<Integer> SIGNALS_OF_WRONG_CODE = Set.of(4, 5, 7, 8, 11);

    private final Path program;

    Trial(Path program) {
        this.program = program;
    }

    /// Times from a store to the first execution of what was stored.
    ///
    /// @param interrupted dropped samples: a core was interrupted
    /// @param skewed      dropped samples: seen before they were stored
    record LatencyRun(List<Sample> samples, long interrupted, long skewed) {}

    /// @param count samples of that many ticks
    record Sample(long ticks, long count) {}

    /// Toggles of a straddler that other threads executed.
    ///
    /// @param toggles with an execution by every executor before and after
    /// @param wrong   executions that were neither the old instruction nor the new one
    /// @param signal  signal that killed the executors, 0 for none
    record PatchRun(long toggles, long executions, long traps, long wrong, int signal) {
        boolean failed() {
            return wrong > 0 || signal != 0;
        }
    }

    CpuIdentity machine() throws IOException {
        return CpuIdentity.ofProgram(program);
    }

    /// @param gapTicksMax of a core's own loop; a longer one was an interruption
    LatencyRun latency(int millis, long gapTicksMax, int writer, int executor) throws IOException {
        Answer answer = ask(List.of(
                "latency",
                Integer.toString(millis),
                Long.toString(gapTicksMax),
                Integer.toString(writer),
                Integer.toString(executor)));
        return new LatencyRun(answer.samples(), answer.number("interrupted"), answer.number("skewed"));
    }

    /// @param locked    by INT3 and two waits; else by two stores only
    /// @param split     bytes of the instruction before the boundary
    /// @param executors their processors
    PatchRun patch(
            boolean locked,
            Boundary boundary,
            int split,
            long waitTicks,
            int millis,
            int patcher,
            List<Integer> executors)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of(
                "patch",
                locked ? "locked" : "unlocked",
                Integer.toString(boundary.bytes()),
                Integer.toString(split),
                Long.toString(waitTicks),
                Integer.toString(millis),
                Integer.toString(patcher)));
        executors.forEach(executor -> arguments.add(Integer.toString(executor)));
        Answer answer = ask(arguments);
        int signal = Math.toIntExact(answer.number("signal"));
        if (signal != 0 && !SIGNALS_OF_WRONG_CODE.contains(signal)) {
            throw new IOException("a trial was killed from outside, by signal " + signal);
        }
        return new PatchRun(
                answer.number("toggles"),
                answer.number("executions"),
                answer.number("traps"),
                answer.number("wrong"),
                signal);
    }

    private Answer ask(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(arguments);
        command.add(0, program.toString());
        Process process = new ProcessBuilder(command)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectErrorStream(true)
                .start();
        try (InputStream in = process.getInputStream()) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            int status = process.waitFor();
            if (status != 0) {
                throw new IOException(
                        program + " " + String.join(" ", arguments) + " ended with " + status + ": " + text.strip());
            }
            return new Answer(text.lines().toList());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }

    private record Answer(List<String> lines) {
        long number(String key) throws IOException {
            for (String line : lines) {
                if (line.startsWith(key + " ")) {
                    return Long.parseLong(line.substring(key.length() + 1));
                }
            }
            throw new IOException("the trial does not tell its " + key);
        }

        List<Sample> samples() {
            List<Sample> samples = new ArrayList<>();
            for (String line : lines) {
                if (line.startsWith("ticks ")) {
                    int blank = line.lastIndexOf(' ');
                    samples.add(new Sample(
                            Long.parseLong(line.substring("ticks ".length(), blank)),
                            Long.parseLong(line.substring(blank + 1))));
                }
            }
            return samples;
        }
    }
}
