package org.mdlagent.fastinst.snippet;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;

/// Predicts the cost of a run of snippets, in ticks: without loops, it follows from their code. Snippets also
/// count their own cost, per thread (Paradyn's observed cost). The cost of system calls is measured, because
/// machines differ tenfold in it. The other figures are rounded values for a processor of about 2.5 GHz and a
/// thread that has its core to itself (`bench/RESULTS.md`); if two threads share a core, everything takes up
/// to twice as long.
public final class CostModel {
    /// To the snippet and back, with the thread's values.
    private static final double PROBE = 9;

    /// A store or a branch.
    private static final double OPERATION = 0.5;

    /// An operand of an expression: several are computed in parallel.
    private static final double PART = OPERATION / 2;

    /// Finding a set empty.
    private static final double SET = 1.5 * OPERATION;

    /// Access to a member's values, and the step to the next member.
    private static final double MEMBER = 2 * OPERATION;

    /// Access to the values of the selected instance.
    private static final double SELECTED = 2 * OPERATION;

    /// Finding a number's position in a vector by a hash; less if the number is an index itself.
    private static final double HASHED_POSITION = 4 * OPERATION;

    private static final double DIRECT_POSITION = 3 * OPERATION;

    /// Finding a number's place in a table.
    private static final double DISCOVERY = 8 * OPERATION;

    /// Reading the time-stamp counter.
    private static final double WALL_TIMER = 14.5;

    /// Saving all registers that a function may change, mainly the vector state. The cost of the function
    /// itself is unknown.
    private static final double CALL = 390;

    /// Reading the CPU time of a thread, a system call.
    private final double processTimer;

    /// Two system calls.
    private final double memoryRead;

    /// Measures the figures that depend on the machine.
    CostModel(NativeApi api) {
        processTimer = api.threadClockTicks();
        memoryRead = 2 * processTimer;
    }

    /// The cost of running a snippet alone at its probe, if each condition in it holds.
    public double ticks(Snippet snippet) {
        return PROBE + ticks(snippet.statements());
    }

    /// The cost of running the snippets of one probe. Equal snippets, which differ only in their values, are
    /// vectorised: of their conditions, one holds.
    public double ticks(Collection<Snippet> snippets) {
        Map<Snippet, Integer> counts = new LinkedHashMap<>();
        snippets.forEach(snippet -> counts.merge(snippet, 1, Integer::sum));
        double sum = PROBE;
        for (Map.Entry<Snippet, Integer> alike : counts.entrySet()) {
            sum += ticks(alike.getKey().statements(), alike.getValue());
        }
        return sum;
    }

    private double ticks(List<Statement> statements, int count) {
        if (count == 1 || statements.size() > 1 || !(statements.getFirst() instanceof Statement.If guarded)) {
            return count * ticks(statements);
        }
        return selects(guarded.condition())
                ? SET + SELECTED + ticks(guarded.body())
                : Math.ceilDiv(count, Long.SIZE) * SET + MEMBER + ticks(guarded.body());
    }

    /// Whether it tests whether a value names a certain instance.
    private static boolean selects(Expression condition) {
        return condition
                        instanceof
                        Expression.Compare(
                                Expression.Relation relation,
                                Expression.Value value,
                                Expression.Constant number)
                && relation == Expression.Relation.EQUAL;
    }

    /// The chain, extended to count its cost: at its end, the cost of getting there and of unconditional
    /// statements.
    List<Snippet> counting(Collection<Snippet> chain) {
        List<Snippet> counting = new ArrayList<>();
        chain.forEach(snippet -> counting.add(counting(snippet)));
        counting.add(countingAlways(chain));
        return counting;
    }

    private Snippet countingAlways(Collection<Snippet> chain) {
        double always = chain.stream()
                .mapToDouble(snippet -> alwaysTicks(snippet.statements()))
                .sum();
        return Snippet.of(cost(PROBE + always));
    }

    /// The snippet, extended to count the additional cost of its conditional statements.
    private Snippet counting(Snippet snippet) {
        return new Snippet(counting(snippet.statements()));
    }

    private List<Statement> counting(List<Statement> statements) {
        return statements.stream().map(this::counting).toList();
    }

    private Statement counting(Statement statement) {
        return switch (statement) {
            case Statement.If(Expression condition, List<Statement> body) ->
                new Statement.If(condition, countingBody(body, 0));
            case Statement.ForEach each ->
                new Statement.ForEach(
                        each.written(), each.members(), each.first(), each.stride(), countingBody(each.body(), MEMBER));
            case Statement.ForSelected one ->
                new Statement.ForSelected(
                        one.selector(),
                        one.lowest(),
                        one.count(),
                        one.first(),
                        one.stride(),
                        countingBody(one.body(), SELECTED));
            default -> statement;
        };
    }

    /// @param more additional cost of a run
    private List<Statement> countingBody(List<Statement> body, double more) {
        List<Statement> counting = new ArrayList<>(counting(body));
        counting.add(cost(more + alwaysTicks(body)));
        return counting;
    }

    private static Statement cost(double ticks) {
        return new Statement.Add(ValueDescriptor.COST, new Expression.Constant(Math.round(ticks)));
    }

    private double alwaysTicks(List<Statement> statements) {
        return statements.stream()
                .mapToDouble(statement -> switch (statement) {
                    case Statement.If(Expression condition, List<Statement> body) -> OPERATION + ticks(condition);
                    case Statement.ForEach each -> SET;
                    case Statement.ForSelected one -> SET;
                    default -> ticks(statement);
                })
                .sum();
    }

    private double ticks(List<Statement> statements) {
        return statements.stream().mapToDouble(this::ticks).sum();
    }

    /// Every condition is assumed to hold, and each set to have one member.
    private double ticks(Statement statement) {
        return switch (statement) {
            case Statement.Store(int value, Expression expression) -> OPERATION + ticks(expression);
            case Statement.Add(int value, Expression amount) -> OPERATION + ticks(amount);
            case Statement.Run(Expression.Call call) -> ticks(call);
            case Statement.If(Expression condition, List<Statement> body) -> OPERATION + ticks(condition) + ticks(body);
            case Statement.Start(int timer, Statement.Clock clock) -> ticks(clock);
            case Statement.Stop(int timer, Statement.Clock clock) -> ticks(clock);
            case Statement.Mark mark -> 2 * OPERATION;
            case Statement.Let(int slot, Expression expression) -> OPERATION + ticks(expression);
            case Statement.Discover(int table, Expression number) -> DISCOVERY + ticks(number);
            case Statement.ForEach each -> SET + MEMBER + ticks(each.body());
            case Statement.ForSelected one -> SET + SELECTED + ticks(one.body());
        };
    }

    private double ticks(Statement.Clock clock) {
        return clock == Statement.Clock.WALL ? WALL_TIMER : processTimer;
    }

    private double ticks(Expression expression) {
        return switch (expression) {
            case Expression.Binary binary -> PART + ticks(binary.left()) + ticks(binary.right());
            case Expression.Divide divide -> 20 * OPERATION + ticks(divide.left()) + ticks(divide.right());
            case Expression.Compare compare -> PART + ticks(compare.left()) + ticks(compare.right());
            case Expression.And and -> OPERATION + ticks(and.left()) + ticks(and.right());
            case Expression.Or or -> OPERATION + ticks(or.left()) + ticks(or.right());
            case Expression.Load load -> PART;
            case Expression.Read read -> memoryRead + ticks(read.address());
            case Expression.Call call ->
                CALL + call.arguments().stream().mapToDouble(this::ticks).sum();
            case Expression.Member member -> PART;
            case Expression.Position position ->
                (position.direct() ? DIRECT_POSITION : HASHED_POSITION) + ticks(position.number());
            case Expression.Common common -> 0;
            case Expression.Constant constant -> 0;
            case Expression.Value value -> 0;
            case Expression.Argument argument -> 0;
            case Expression.Result result -> 0;
            case Expression.ReturnAddress address -> PART;
        };
    }
}
