// Calls of some functions of a running program between two presses of Enter: mdl script CallsBetween.java PID PATTERN
import org.mdlagent.client.*;

void main(String[] arguments) {
    String pattern = arguments[1];
    try (Program program = Measurement.counts().include(pattern).attach(Long.parseLong(arguments[0]))) {
        program.disable(pattern);
        IO.readln("Enter begins\n");
        Snapshot before = program.snapshot();
        program.enable(pattern);
        IO.readln("Enter ends\n");
        program.disable(pattern);
        for (Function function : program.snapshot().functions(pattern)) {
            long calls = function.calls() - before.calls(function.name());
            if (calls > 0) {
                IO.println("%12d  %s".formatted(calls, function.name()));
            }
        }
    }
}
