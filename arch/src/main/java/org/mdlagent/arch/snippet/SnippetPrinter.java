package org.mdlagent.arch.snippet;

import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/// Prints snippets: one statement per line, bodies indented, values by name.
public final class SnippetPrinter {
    private static final String STEP = "    ";

    /// Nothing is mapped below this address (proc_sys_vm(5), mmap_min_addr).
    private static final long ADDRESSES = 0x10000;

    private final IntFunction<String> names;
    private final StringBuilder out = new StringBuilder();

    private SnippetPrinter(IntFunction<String> names) {
        this.names = names;
    }

    /// @param names of values, by their indices
    public static String print(Snippet snippet, IntFunction<String> names) {
        SnippetPrinter printer = new SnippetPrinter(names);
        printer.print(snippet.statements(), "");
        return printer.out.toString();
    }

    private void print(List<Statement> statements, String indent) {
        for (Statement statement : statements) {
            out.append(indent);
            switch (statement) {
                case Statement.Store(int value, Expression expression) ->
                    line(names.apply(value) + " = " + text(expression));
                case Statement.Add(int value, Expression amount) -> line(names.apply(value) + " += " + text(amount));
                case Statement.Run(Expression.Call call) -> line(text(call));
                case Statement.If(Expression condition, List<Statement> body) ->
                    block("if " + text(condition), body, indent);
                case Statement.Start(int timer, Statement.Clock clock) ->
                    line("start " + names.apply(timer) + ", " + text(clock));
                case Statement.Stop(int timer, Statement.Clock clock) ->
                    line("stop " + names.apply(timer) + ", " + text(clock));
                case Statement.Mark(int value, Expression.Member member) ->
                    line(text(member) + " = " + names.apply(value) + " != 0");
                case Statement.Let(int slot, Expression expression) ->
                    line("let common" + slot + " = " + text(expression));
                case Statement.Discover(int table, Expression number) ->
                    line("note " + text(number) + " in " + names.apply(table));
                case Statement.ForEach each ->
                    block(
                            "for each of " + Long.bitCount(each.members()) + " as " + text(each.written()),
                            each.body(),
                            indent);
                case Statement.ForSelected one ->
                    block(
                            "for " + names.apply(one.selector()) + " of " + one.lowest() + " to "
                                    + (one.lowest() + one.count() - 1) + " as " + one.lowest(),
                            one.body(),
                            indent);
            }
        }
    }

    private void block(String head, List<Statement> body, String indent) {
        line(head + " {");
        print(body, indent + STEP);
        out.append(indent);
        line("}");
    }

    private void line(String text) {
        out.append(text).append('\n');
    }

    private static String text(Statement.Clock clock) {
        return clock == Statement.Clock.WALL ? "elapsed time" : "CPU time";
    }

    private String text(Expression expression) {
        return switch (expression) {
            case Expression.Constant(long number) -> Long.toString(number);
            case Expression.Value(int index) -> names.apply(index);
            case Expression.Argument(int number) -> "argument[" + number + "]";
            case Expression.Result() -> "result";
            case Expression.ReturnAddress() -> "return address";
            case Expression.Load(long address, Expression.Width width) ->
                (width.signed() ? "s" : "u") + Byte.SIZE * width.bytes() + "[0x" + Long.toHexString(address) + "]";
            case Expression.Read(Expression address, int errors) ->
                "read[" + text(address) + "] or " + names.apply(errors) + " += 1";
            case Expression.Call call -> text(call);
            case Expression.Binary(Expression.Operator operator, Expression left, Expression right) ->
                text(left, spelling(operator), right);
            case Expression.Divide(Expression left, Expression right, int errors) ->
                text(left, "/", right) + " or " + names.apply(errors) + " += 1";
            case Expression.Compare(
                    Expression.Relation relation,
                    Expression.ReturnAddress address,
                    Expression.Constant(long number)) ->
                text(address) + " " + spelling(relation) + " 0x" + Long.toHexString(number);
            case Expression.Compare(Expression.Relation relation, Expression left, Expression right) ->
                text(left, spelling(relation), right);
            case Expression.Common(int slot) -> "common" + slot;
            case Expression.Position(Expression number, long table, boolean direct) ->
                (direct ? "index" : "hash") + "[" + text(number) + "]";
            case Expression.Member(int set, int bit) -> names.apply(set) + "[" + bit + "]";
            case Expression.And(Expression left, Expression right) -> text(left, "&&", right);
            case Expression.Or(Expression left, Expression right) -> text(left, "||", right);
        };
    }

    private String text(Expression.Call call) {
        String arguments = call.arguments().stream().map(this::argument).collect(Collectors.joining(", "));
        return "call 0x" + Long.toHexString(call.function()) + "(" + arguments + ") or " + names.apply(call.errors())
                + " += 1";
    }

    /// The address of a text, or a number.
    private String argument(Expression argument) {
        return argument instanceof Expression.Constant(long number) && number >= ADDRESSES
                ? "0x" + Long.toHexString(number)
                : text(argument);
    }

    private String text(Expression left, String operator, Expression right) {
        return operand(left) + " " + operator + " " + operand(right);
    }

    private String operand(Expression expression) {
        return switch (expression) {
            case Expression.Binary binary -> "(" + text(binary) + ")";
            case Expression.Divide divide -> "(" + text(divide) + ")";
            case Expression.Read read -> "(" + text(read) + ")";
            case Expression.Call call -> "(" + text(call) + ")";
            case Expression.Compare compare -> "(" + text(compare) + ")";
            case Expression.And and -> "(" + text(and) + ")";
            case Expression.Or or -> "(" + text(or) + ")";
            default -> text(expression);
        };
    }

    private static String spelling(Expression.Operator operator) {
        return switch (operator) {
            case ADD -> "+";
            case SUBTRACT -> "-";
            case MULTIPLY -> "*";
        };
    }

    private static String spelling(Expression.Relation relation) {
        return switch (relation) {
            case EQUAL -> "==";
            case NOT_EQUAL -> "!=";
            case LESS -> "<";
            case LESS_OR_EQUAL -> "<=";
            case GREATER -> ">";
            case GREATER_OR_EQUAL -> ">=";
        };
    }
}
