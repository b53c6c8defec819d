package org.mdlagent.fastinst;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Snippet;
import org.mdlagent.arch.snippet.Statement;

/// Predicts what a run of snippets costs, in ticks: there are no loops, so it can be read off. And lets the snippets
/// themselves count it, thread by thread (Paradyn's observed cost). The figures are round ones, for a processor of
/// some 2.5 GHz.
public final class CostModel {
    /// To the snippet and back, with the thread's values.
    private static final double PROBE = 12;

    private static final double OPERATION = 1;

    /// Reading the time-stamp counter.
    private static final double WALL_TIMER = 25;

    /// A system call.
    private static final double PROCESS_TIMER = 500;

    private CostModel() {}

    /// What a run of a snippet costs that is alone at its probe, when each condition in it holds.
    public static double ticks(Snippet snippet) {
        return PROBE + ticks(snippet.statements());
    }

    /// What, at the end of a chain, counts the cost of the way to it and of what its snippets always do.
    static Snippet countingChain(List<Snippet> chain) {
        double always = chain.stream()
                .mapToDouble(snippet -> alwaysTicks(snippet.statements()))
                .sum();
        return Snippet.of(cost(PROBE + always));
    }

    /// The same snippet, which counts what its conditions let it do in addition.
    static Snippet counting(Snippet snippet) {
        return new Snippet(counting(snippet.statements()));
    }

    private static List<Statement> counting(List<Statement> statements) {
        return statements.stream().map(CostModel::counting).toList();
    }

    private static Statement counting(Statement statement) {
        if (!(statement instanceof Statement.If(Expression condition, List<Statement> body))) {
            return statement;
        }
        List<Statement> counting = new ArrayList<>(counting(body));
        counting.add(cost(alwaysTicks(body)));
        return new Statement.If(condition, counting);
    }

    private static Statement cost(double ticks) {
        return new Statement.Add(ValueDescriptor.COST, new Expression.Constant(Math.round(ticks)));
    }

    private static double alwaysTicks(List<Statement> statements) {
        return statements.stream()
                .mapToDouble(statement -> statement instanceof Statement.If(Expression condition, List<Statement> body)
                        ? OPERATION + ticks(condition)
                        : ticks(statement))
                .sum();
    }

    private static double ticks(List<Statement> statements) {
        return statements.stream().mapToDouble(CostModel::ticks).sum();
    }

    /// Every condition is taken to hold.
    private static double ticks(Statement statement) {
        return switch (statement) {
            case Statement.Store(int value, Expression expression) -> OPERATION + ticks(expression);
            case Statement.Add(int value, Expression amount) -> OPERATION + ticks(amount);
            case Statement.If(Expression condition, List<Statement> body) -> OPERATION + ticks(condition) + ticks(body);
            case Statement.Start(int timer, Statement.Clock clock) -> ticks(clock);
            case Statement.Stop(int timer, Statement.Clock clock) -> ticks(clock);
        };
    }

    private static double ticks(Statement.Clock clock) {
        return clock == Statement.Clock.WALL ? WALL_TIMER : PROCESS_TIMER;
    }

    private static double ticks(Expression expression) {
        return switch (expression) {
            case Expression.Binary binary -> OPERATION + ticks(binary.left()) + ticks(binary.right());
            case Expression.Divide divide -> 20 * OPERATION + ticks(divide.left()) + ticks(divide.right());
            case Expression.Compare compare -> OPERATION + ticks(compare.left()) + ticks(compare.right());
            case Expression.And and -> OPERATION + ticks(and.left()) + ticks(and.right());
            case Expression.Or or -> OPERATION + ticks(or.left()) + ticks(or.right());
            case Expression.Load load -> OPERATION;
            case Expression.Constant constant -> 0;
            case Expression.Value value -> 0;
            case Expression.Argument argument -> 0;
            case Expression.Result result -> 0;
        };
    }
}
