// The arcs between basic blocks that control took the most: mdl script ArcCounter.java PROGRAM ARGS...
import org.mdlagent.client.*;

void main(String[] command) {
    try (Program program = Measurement.arcs().run(command)) {
        int status = program.waitFor();
        program.snapshot().arcs().stream()
                .filter(arc -> arc.count() > 0)
                .sorted(Comparator.comparingLong(Arc::count).reversed())
                .limit(20)
                .forEach(IO::println);
        System.exit(status);
    }
}
