// Fails if a program's tests call less than PERCENT of its functions: mdl script Coverage.java PERCENT PROGRAM ARGS...
import org.mdlagent.client.*;

void main(String[] arguments) {
    String[] command = Arrays.copyOfRange(arguments, 1, arguments.length);
    try (Program program = Measurement.coverage().run(command)) {
        program.waitFor();
        Map<Boolean, List<Function>> called = program.snapshot().functions().stream()
                .collect(Collectors.partitioningBy(function -> function.calls() > 0));
        called.get(false).forEach(function -> IO.println("not called: " + function.name()));
        int yes = called.get(true).size();
        int all = yes + called.get(false).size();
        IO.println("%d of %d functions called".formatted(yes, all));
        System.exit(100 * yes < Integer.parseInt(arguments[0]) * all ? 1 : 0);
    }
}
