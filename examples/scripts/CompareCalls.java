// Functions that two commands call a different number of times: mdl script CompareCalls.java A ARGS... -- B ARGS...
import org.mdlagent.client.*;

Map<String, Long> calls(List<String> command) {
    try (Program program = Measurement.counts().run(command.toArray(String[]::new))) {
        program.waitFor();
        return program.snapshot().functions().stream()
                .collect(Collectors.toMap(Function::name, Function::calls, Long::sum, TreeMap::new));
    }
}

void main(String[] arguments) {
    List<String> words = List.of(arguments);
    int between = words.indexOf("--");
    Map<String, Long> first = calls(words.subList(0, between));
    Map<String, Long> second = calls(words.subList(between + 1, words.size()));
    first.forEach((name, calls) -> {
        if (!calls.equals(second.get(name))) {
            IO.println("%12d %12d  %s".formatted(calls, second.getOrDefault(name, 0L), name));
        }
    });
}
