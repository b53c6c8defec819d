package org.mdlagent.arch.snippet;

import java.util.ArrayList;
import java.util.List;
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

/// Folds constants (MDL paper, section 5). Expressions that count an error stay.
public final class ConstantFolding {
    private static final Constant FALSE = new Constant(0);
    private static final Constant TRUE = new Constant(1);

    private ConstantFolding() {}

    /// A chain with the same effect.
    public static List<Snippet> foldAll(List<Snippet> chain) {
        return chain.stream().map(ConstantFolding::fold).toList();
    }

    private static Snippet fold(Snippet snippet) {
        return new Snippet(fold(snippet.statements()));
    }

    private static List<Statement> fold(List<Statement> statements) {
        List<Statement> folded = new ArrayList<>();
        for (Statement statement : statements) {
            switch (statement) {
                case Store(int value, Expression expression) -> folded.add(new Store(value, fold(expression)));
                case Add(int value, Expression amount) -> {
                    Expression constant = fold(amount);
                    if (!constant.equals(FALSE)) {
                        folded.add(new Add(value, constant));
                    }
                }
                case Run(Call call) -> folded.add(new Run(fold(call)));
                case If(Expression condition, List<Statement> body) -> fold(fold(condition), fold(body), folded);
                case Start start -> folded.add(start);
                case Stop stop -> folded.add(stop);
                case Mark mark -> folded.add(mark);
                case Let(int slot, Expression expression) -> folded.add(new Let(slot, fold(expression)));
                case Discover(int table, Expression number) -> folded.add(new Discover(table, fold(number)));
                case ForEach each ->
                    folded.add(new ForEach(
                            each.written(), each.members(), each.first(), each.stride(), fold(each.body())));
                case ForSelected one ->
                    folded.add(new ForSelected(
                            one.selector(), one.lowest(), one.count(), one.first(), one.stride(), fold(one.body())));
            }
        }
        return folded;
    }

    private static void fold(Expression condition, List<Statement> body, List<Statement> folded) {
        if (!(condition instanceof Constant(long number))) {
            folded.add(new If(condition, body));
        } else if (number != 0) {
            folded.addAll(body);
        }
    }

    private static Expression fold(Expression expression) {
        return switch (expression) {
            case Constant constant -> constant;
            case Value value -> value;
            case Argument argument -> argument;
            case Result result -> result;
            case ReturnAddress address -> address;
            case Load load -> load;
            case Read(Expression address, int errors) -> new Read(fold(address), errors);
            case Call call -> fold(call);
            case Member member -> member;
            case Position(Expression number, long table, boolean direct) -> new Position(fold(number), table, direct);
            case Common common -> common;
            case Binary(Expression.Operator operator, Expression left, Expression right) ->
                binary(operator, fold(left), fold(right));
            case Divide(Expression left, Expression right, int errors) -> divide(fold(left), fold(right), errors);
            case Compare(Expression.Relation relation, Expression left, Expression right) ->
                compare(relation, fold(left), fold(right));
            case And(Expression left, Expression right) -> and(fold(left), fold(right));
            case Or(Expression left, Expression right) -> or(fold(left), fold(right));
        };
    }

    private static Call fold(Call call) {
        return new Call(
                call.function(),
                call.arguments().stream().map(ConstantFolding::fold).toList(),
                call.errors());
    }

    private static Expression binary(Expression.Operator operator, Expression left, Expression right) {
        if (left instanceof Constant(long a) && right instanceof Constant(long b)) {
            return new Constant(operator.apply(a, b));
        }
        long neutral = operator == Expression.Operator.MULTIPLY ? 1 : 0;
        if (right instanceof Constant(long b) && b == neutral) {
            return left;
        }
        boolean commutes = operator != Expression.Operator.SUBTRACT;
        if (commutes && left instanceof Constant(long a)) {
            return a == neutral ? right : new Binary(operator, right, left);
        }
        return new Binary(operator, left, right);
    }

    private static Expression divide(Expression left, Expression right, int errors) {
        if (left instanceof Constant(long a) && right instanceof Constant(long b) && b != 0) {
            return new Constant(a / b);
        }
        return right.equals(TRUE) ? left : new Divide(left, right, errors);
    }

    private static Expression compare(Expression.Relation relation, Expression left, Expression right) {
        if (left instanceof Constant(long a) && right instanceof Constant(long b)) {
            return relation.holds(a, b) ? TRUE : FALSE;
        }
        return new Compare(relation, left, right);
    }

    private static Expression and(Expression left, Expression right) {
        if (left instanceof Constant(long a)) {
            return a == 0 ? FALSE : truth(right);
        }
        return new And(left, right);
    }

    private static Expression or(Expression left, Expression right) {
        if (left instanceof Constant(long a)) {
            return a != 0 ? TRUE : truth(right);
        }
        return new Or(left, right);
    }

    private static Expression truth(Expression expression) {
        return compare(Expression.Relation.NOT_EQUAL, expression, FALSE);
    }
}
