package org.mdlagent.profiler.report.format;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import org.mdlagent.profiler.report.profile.CpuSamples;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.Loss;
import org.mdlagent.profiler.report.profile.ProcessProfile;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.report.profile.TimeRange;
import org.mdlagent.profiler.text.BaseName;
import org.mdlagent.profiler.text.ForeignText;
import org.mdlagent.profiler.text.LibraryName;

/// Notes and warnings that accompany the figures of a profile.
public final class ProfileNotes {
    /// Maximum functions with withheld figures that are named.
    private static final int DAMAGED_MAX = 5;

    /// Maximum images without probes that are named.
    private static final int IMAGES_MAX = 4;

    /// Smaller shares of the CPU time would be shown as 0.0 %, and are not named.
    private static final double NAMED_PERCENT_MIN = 0.05;

    /// Minimum share of the CPU time in code without probes that is worth a sentence.
    private static final double TOLD_PERCENT_MIN = 0.1;

    private ProfileNotes() {}

    /// How calls are recorded and what their durations measure.
    public static String mode(Profile profile) {
        if (!profile.session().collected().isTimed()) {
            return profile.session().collected().key();
        }
        return (profile.session().exact() ? "exact" : sampled(profile))
                + (profile.session().cpuTime() ? ", CPU time" : "");
    }

    private static String sampled(Profile profile) {
        OptionalDouble budget = profile.session().method().budgetPercent();
        long exact = profile.functions().stream().filter(FunctionProfile::exact).count();
        return "sampled"
                + (budget.isEmpty()
                        ? ""
                        : " for " + Quantity.percent(budget.getAsDouble()).text())
                + (exact == 0 ? "" : ", " + PlainText.grouped(exact) + " exact")
                + (isBudgetExceeded(profile) ? ": over the budget" : "");
    }

    private static boolean isBudgetExceeded(Profile profile) {
        OptionalDouble budget = profile.session().method().budgetPercent();
        return budget.isPresent() && profile.everyCallPercent().orElse(0) > budget.getAsDouble();
    }

    /// A loss as a sentence.
    public static String sentence(Loss loss) {
        String count = PlainText.grouped(loss.count());
        boolean one = loss.count() == 1;
        return switch (loss.reason()) {
            case AGENT -> "the agent failed in this run; its log, agent.log in the session's directory, says why";
            case THREADS -> count + (one ? " thread was" : " threads were") + " not seen for lack of room";
            case IMAGES ->
                count + (one ? " program or library was" : " programs or libraries were")
                        + " left alone; agent.log says which, and why";
            case FUNCTIONS -> count + (one ? " function has" : " functions have") + " no probe; agent.log says why";
            case PROCESSES ->
                count + (one ? " process has" : " processes have")
                        + " no record for lack of room: their calls are known" + " in sum only";
            case UNPROBED ->
                count + (one ? " process that was" : " processes that were")
                        + " forked before the probes were in place had none; --wait puts them in place first";
            case APART ->
                count
                        + (one
                                ? " process is not counted since it or its parent"
                                : " processes are not counted since they or their parents")
                        + " gave up rights";
            case CALLS -> count + (one ? " call was" : " calls were") + " not timed for lack of room";
            case DAMAGE ->
                "the session is damaged: the figures of " + count + (one ? " function are" : " functions are")
                        + " withheld";
        };
    }

    /// How much of the CPU time was in code without probes, and where; null if hardly any was.
    public static @Nullable String notProbed(CpuSamples cpu) {
        double percent = cpu.notProbedPercent();
        if (percent < TOLD_PERCENT_MIN) {
            return null;
        }
        List<String> parts = new ArrayList<>();
        double others = 0;
        for (CpuSamples.OfImage of : cpu.notProbed()) {
            double part = cpu.percent(of.samples());
            if (part >= NAMED_PERCENT_MIN && parts.size() < IMAGES_MAX) {
                parts.add(ForeignText.printable(BaseName.of(of.image())) + " " + percent(part));
            } else {
                others += part;
            }
        }
        addPart(parts, "others", others);
        addPart(parts, "elsewhere", cpu.percent(cpu.elsewhere()));
        return "not probed: " + percent(percent) + " of the CPU time"
                + (parts.isEmpty() ? "" : ": " + String.join(", ", parts))
                + remedy(cpu);
    }

    /// The options that probe the library with most of the time, if it is worth it and can be probed as a
    /// whole.
    private static String remedy(CpuSamples cpu) {
        return cpu.notProbed().stream()
                .filter(of -> cpu.percent(of.samples()) >= REMEDY_PERCENT_MIN)
                .map(of -> BaseName.of(of.image()))
                .filter(LibraryName::isProbeable)
                .findFirst()
                .map(name -> "\n  to probe " + name + ": mdl run --include '*' --include '" + anyVersion(name) + "!*'")
                .orElse("");
    }

    /// Programs load `libz.so.1`, a link to `libz.so.1.2.13`, the file that samples name.
    private static String anyVersion(String library) {
        return library.substring(0, library.indexOf(".so")) + ".so*";
    }

    /// Minimum share of the CPU time for which probes are recommended.
    private static final double REMEDY_PERCENT_MIN = 10;

    private static void addPart(List<String> parts, String name, double percent) {
        if (percent >= NAMED_PERCENT_MIN) {
            parts.add(name + " " + percent(percent));
        }
    }

    private static String percent(double percent) {
        return String.format(Locale.ROOT, "%.1f %%", percent);
    }

    /// What is damaged, for the first damaged functions.
    public static List<String> damage(Profile profile) {
        return profile.functions().stream()
                .filter(function -> function.damage() != null)
                .limit(DAMAGED_MAX)
                .map(function -> ForeignText.printable(function.name()) + " is withheld: " + function.damage())
                .toList();
    }

    /// A note that processes of the session outlive the one with the agent, as a daemon outlives its parent;
    /// null if none does.
    public static @Nullable String withoutAgent(Profile.Family family) {
        long running = family.processes().stream().filter(ProcessProfile::runs).count();
        boolean agentRuns = family.processes().stream().anyMatch(one -> one.agent() && one.runs());
        return running == 0 || agentRuns
                ? null
                : "the process that had the agent has ended; " + PlainText.grouped(running)
                        + (running == 1 ? " process goes" : " processes go")
                        + " on without probes";
    }

    /// What readers of any report must know before they trust its figures.
    public static List<String> warnings(Profile profile) {
        List<String> warnings = new ArrayList<>();
        if (profile.lost(Loss.Reason.AGENT) > 0) {
            warnings.add(sentence(new Loss(Loss.Reason.AGENT, 1)));
        }
        String withoutAgent = withoutAgent(profile.family());
        if (withoutAgent != null) {
            warnings.add(withoutAgent);
        }
        if (isBudgetExceeded(profile)) {
            warnings.add("recording every call of functions costs "
                    + Quantity.percent(profile.everyCallPercent().orElse(0)).text()
                    + " of the time, more than the budget: the others are sampled within a tenth of it");
        }
        for (Loss loss : profile.losses()) {
            if (loss.reason() != Loss.Reason.AGENT) {
                warnings.add(sentence(loss));
            }
        }
        warnings.addAll(damage(profile));
        TimeRange range = profile.range();
        if (range != null && range.leftOut() > 0) {
            warnings.add("the slices of this time had no room for " + PlainText.grouped(range.leftOut())
                    + " functions with less time, counted slice by slice");
        }
        if (profile.unmatched() > 0) {
            warnings.add(PlainText.grouped(profile.unmatched()) + " calls were left by a jump or an exception");
        }
        return warnings;
    }
}
