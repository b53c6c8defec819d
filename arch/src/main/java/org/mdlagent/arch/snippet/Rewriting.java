package org.mdlagent.arch.snippet;

import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.UnaryOperator;
import org.mdlagent.arch.snippet.Expression.And;
import org.mdlagent.arch.snippet.Expression.Argument;
import org.mdlagent.arch.snippet.Expression.Binary;
import org.mdlagent.arch.snippet.Expression.Call;
import org.mdlagent.arch.snippet.Expression.Common;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Divide;
import org.mdlagent.arch.snippet.Expression.Load;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Or;
import org.mdlagent.arch.snippet.Expression.Position;
import org.mdlagent.arch.snippet.Expression.Read;
import org.mdlagent.arch.snippet.Expression.Result;
import org.mdlagent.arch.snippet.Expression.ReturnAddress;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Statement.Add;
import org.mdlagent.arch.snippet.Statement.Discover;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.ForSelected;
import org.mdlagent.arch.snippet.Statement.If;
import org.mdlagent.arch.snippet.Statement.Let;
import org.mdlagent.arch.snippet.Statement.Mark;
import org.mdlagent.arch.snippet.Statement.Run;
import org.mdlagent.arch.snippet.Statement.Start;
import org.mdlagent.arch.snippet.Statement.Stop;
import org.mdlagent.arch.snippet.Statement.Store;

/// Rewrites statements by replacing parts.
///
/// @param expressions replaces an expression; if it returns the same expression, its parts are rewritten
/// @param numbers     replaces indices of values, in the order of their occurrence; sets stay
record Rewriting(UnaryOperator<Expression> expressions, IntUnaryOperator numbers) {

    static Rewriting renumbering(IntUnaryOperator numbers) {
        return new Rewriting(UnaryOperator.identity(), numbers);
    }

    static Rewriting replacing(Expression replaced, Expression by) {
        return new Rewriting(expression -> expression.equals(replaced) ? by : expression, IntUnaryOperator.identity());
    }

    List<Statement> of(List<Statement> statements) {
        return statements.stream().map(this::of).toList();
    }

    private Statement of(Statement statement) {
        return switch (statement) {
            case Store(int value, Expression expression) -> new Store(number(value), of(expression));
            case Add(int value, Expression amount) -> new Add(number(value), of(amount));
            case Run(Call call) -> new Run(of(call));
            case If(Expression condition, List<Statement> body) -> new If(of(condition), of(body));
            case Start(int timer, Statement.Clock clock) -> new Start(number(timer), clock);
            case Stop(int timer, Statement.Clock clock) -> new Stop(number(timer), clock);
            case Mark(int value, Member member) -> new Mark(number(value), member);
            case Let(int slot, Expression expression) -> new Let(slot, of(expression));
            case Discover(int table, Expression number) -> new Discover(number(table), of(number));
            case ForEach each ->
                new ForEach(each.written(), each.members(), number(each.first()), each.stride(), of(each.body()));
            case ForSelected one ->
                new ForSelected(
                        one.selector(), one.lowest(), one.count(), number(one.first()), one.stride(), of(one.body()));
        };
    }

    private Expression of(Expression expression) {
        Expression other = expressions.apply(expression);
        return other.equals(expression) ? ofParts(expression) : other;
    }

    private Expression ofParts(Expression expression) {
        return switch (expression) {
            case Value(int index) -> new Value(number(index));
            case Binary(Expression.Operator operator, Expression left, Expression right) ->
                new Binary(operator, of(left), of(right));
            case Divide(Expression left, Expression right, int errors) ->
                new Divide(of(left), of(right), number(errors));
            case Read(Expression address, int errors) -> new Read(of(address), number(errors));
            case Call call -> of(call);
            case Compare(Expression.Relation relation, Expression left, Expression right) ->
                new Compare(relation, of(left), of(right));
            case And(Expression left, Expression right) -> new And(of(left), of(right));
            case Or(Expression left, Expression right) -> new Or(of(left), of(right));
            case Constant constant -> constant;
            case Argument argument -> argument;
            case Result result -> result;
            case ReturnAddress address -> address;
            case Load load -> load;
            case Common common -> common;
            case Member member -> member;
            case Position(Expression number, long table, boolean direct) -> new Position(of(number), table, direct);
        };
    }

    private Call of(Call call) {
        return new Call(call.function(), call.arguments().stream().map(this::of).toList(), number(call.errors()));
    }

    private int number(int value) {
        return numbers.applyAsInt(value);
    }
}
