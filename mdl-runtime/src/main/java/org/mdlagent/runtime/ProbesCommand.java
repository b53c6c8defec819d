package org.mdlagent.runtime;

import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Collector;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;

/// `probes on FUNCTIONS`, `probes off FUNCTIONS`: what the profiler records. `probes windowed`, `probes exact`, `probes
/// N`:
/// which of their calls it times ([Tier]). Functions are given by a [FunctionGlob], or one by `#` and its number in the
/// session.
///
/// Sites that several functions share, and clients of the program's own, stay as they are.
final class ProbesCommand implements Command {
    private final Probes probes;
    private final Collector collector;

    ProbesCommand(Probes probes, Collector collector) {
        this.probes = probes;
        this.collector = collector;
    }

    @Override
    public String execute(String arguments) {
        int blank = arguments.indexOf(' ');
        String state = blank < 0 ? arguments : arguments.substring(0, blank);
        Consumer<List<Integer>> action = action(state);
        if (blank < 0 || action == null) {
            throw new IllegalArgumentException(
                    "probes are switched by: probes on|off FUNCTIONS, probes windowed|exact|N FUNCTIONS");
        }
        List<Integer> functions = find(arguments.substring(blank).strip());
        action.accept(functions);
        return functions.size() + (functions.size() == 1 ? " function " : " functions ") + state + "\n";
    }

    private @Nullable Consumer<List<Integer>> action(String state) {
        return switch (state) {
            case "on" -> collector::reopen;
            case "off" -> collector::close;
            case "windowed" -> functions -> collector.setTier(functions, Tier.WINDOWED);
            case "exact" -> functions -> collector.setTier(functions, Tier.EXACT);
            default -> byChance(state);
        };
    }

    private @Nullable Consumer<List<Integer>> byChance(String mean) {
        try {
            int calls = Integer.parseInt(mean);
            if (calls <= Tier.EXACT.mean()) {
                return null;
            }
            Tier tier = new Tier(calls);
            return functions -> collector.setTier(functions, tier);
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private List<Integer> find(String wanted) {
        List<Integer> found = wanted.startsWith("#")
                ? numbered(wanted.substring(1))
                : probes.functions(new Matching(FunctionGlob.of(wanted)));
        if (found.isEmpty()) {
            throw new IllegalArgumentException("no function with probes is " + wanted);
        }
        return found;
    }

    private List<Integer> numbered(String digits) {
        try {
            int number = Integer.parseInt(digits);
            return number >= 0 && number < probes.functionCount() ? List.of(number) : List.of();
        } catch (NumberFormatException e) {
            return List.of();
        }
    }
}
