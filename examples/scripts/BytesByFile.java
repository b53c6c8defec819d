// Bytes that a program reads and writes, by file: mdl script BytesByFile.java PROGRAM ARGS...
import org.mdlagent.client.*;

void main(String[] command) {
    try (Program program = Measurement.counts().metric("io_bytes@/File/*").run(command)) {
        program.waitFor();
        for (Metric metric : program.snapshot().metrics()) {
            IO.println("%12.0f  %s".formatted(metric.amount().orElse(0), metric.request()));
        }
    }
}
