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

/// Predicts what a run of snippets costs, in ticks: there are no loops, so it can be read off. And lets the snippets
/// themselves count it, thread by thread (Paradyn's observed cost). What system calls cost is measured, since machines
/// differ tenfold in it. The other figures are round ones, for a processor of some 2.5 GHz, and a thread that has its
/// core to itself (`bench/RESULTS.md`): beside another one on the same core all takes up to twice as long.
public final class CostModel {
    /// To the snippet and back, with the thread's values.
    private static final double PROBE = 9;

    /// Something stored, or decided.
    private static final double OPERATION = 0.5;

    /// A part of an expression: several are worked out at the same time.
    private static final double PART = OPERATION / 2;

    /// To find that a set is empty.
    private static final double SET = 1.5 * OPERATION;

    /// To a member's values, and to the next member.
    private static final double MEMBER = 2 * OPERATION;

    /// To the values of the instance that is selected.
    private static final double SELECTED = 2 * OPERATION;

    /// Finding which of the numbers of a vector one is, by a hash; less where it is an index itself.
    private static final double HASHED_POSITION = 4 * OPERATION;

    private static final double DIRECT_POSITION = 3 * OPERATION;

    /// Finding a number's place in a table.
    private static final double DISCOVERY = 8 * OPERATION;

    /// Reading the time-stamp counter.
    private static final double WALL_TIMER = 14.5;

    /// Saving all that a function may change, the state of vectors above all. What the function does is not known.
    private static final double CALL = 390;

    /// Reading the CPU time of a thread, which is a system call.
    private final double processTimer;

    /// Two system calls.
    private final double memoryRead;

    /// Measures what is different on each machine.
    CostModel(NativeApi api) {
        processTimer = api.threadClockTicks();
        memoryRead = 2 * processTimer;
    }

    /// What a run of a snippet costs that is alone at its probe, when each condition in it holds.
    public double ticks(Snippet snippet) {
        return PROBE + ticks(snippet.statements());
    }

    /// What a run of snippets costs that are one probe's. Those that are equal stand for as many that differ in their
    /// values only, and are vectorised: of their conditions, one holds.
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

    /// Whether it asks if a value names a certain instance.
    private static boolean selects(Expression condition) {
        return condition
                        instanceof
                        Expression.Compare(
                                Expression.Relation relation,
                                Expression.Value value,
                                Expression.Constant number)
                && relation == Expression.Relation.EQUAL;
    }

    /// The same chain, which counts what it costs: what its snippets always do and the way to them at its end.
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

    /// The same snippet, which counts what its conditions let it do in addition.
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

    /// @param more what a run costs in addition
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

    /// Every condition is taken to hold, and one member to be in each set.
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
