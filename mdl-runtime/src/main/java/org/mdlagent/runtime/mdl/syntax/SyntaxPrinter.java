package org.mdlagent.runtime.mdl.syntax;

import java.util.List;
import java.util.stream.Collectors;

/// Prints a syntax tree: a line for each node, indented by depth, with line and column; expressions in prefix
/// form.
public final class SyntaxPrinter {
    private final SourceFile file;
    private final StringBuilder out = new StringBuilder();
    private int depth;

    private SyntaxPrinter(SourceFile file) {
        this.file = file;
    }

    public static String print(SyntaxTree tree) {
        SyntaxPrinter printer = new SyntaxPrinter(tree.file());
        tree.definitions().forEach(printer::definition);
        return printer.out.toString();
    }

    private void definition(Definition definition) {
        switch (definition) {
            case Definition.Items list -> list(list);
            case Definition.Constraint constraint -> constraint(constraint);
            case Definition.Metric metric -> metric(metric);
            case Definition.Exclude exclude ->
                line(
                        exclude.at(),
                        "exclude "
                                + (exclude.ignoringCase() ? "noCase " : "")
                                + (exclude.regex() ? "regex " : "")
                                + quoted(exclude.what()));
            case Definition.Tunables tunables -> {
                line(tunables.at(), "tunable_constant");
                for (Definition.Tunable tunable : tunables.tunables()) {
                    inner(tunable.name().at(), quoted(tunable.name().text()) + " " + expression(tunable.value()));
                }
            }
            case Definition.Foreign foreign -> {
                line(foreign.at(), foreign.kind() + " " + foreign.name());
                for (Definition.ForeignField field : foreign.fields()) {
                    inner(field.name().at(), field.name() + " " + String.join(" ", field.values()));
                }
            }
            case Definition.Bare bare -> statement(bare.statement());
        }
    }

    private void list(Definition.Items list) {
        line(list.at(), "list " + list.name() + " is " + list.type().word());
        for (Name item : list.items()) {
            inner(item.at(), "item " + quoted(item.text()));
        }
        if (!list.flavors().isEmpty()) {
            inner(list.flavors().getFirst().at(), "flavor " + joined(list.flavors(), " "));
        }
        inner(list.at(), "library " + list.library());
    }

    private void constraint(Definition.Constraint constraint) {
        ValueKind kind = constraint.kind();
        line(
                constraint.at(),
                "constraint "
                        + constraint.name()
                        + " /"
                        + joined(constraint.path(), "/")
                        + " is "
                        + (constraint.replaces() ? "replace " : "")
                        + (constraint.index() != null
                                ? "vector " + constraint.index().word()
                                : kind == null ? "default" : kind.word()));
        statements(constraint.statements());
    }

    private void metric(Definition.Metric metric) {
        line(metric.at(), "metric " + metric.name());
        depth++;
        metric.fields().forEach(this::field);
        depth--;
    }

    private void field(MetricField field) {
        switch (field) {
            case MetricField.Setting setting ->
                line(
                        field.at(),
                        setting.field()
                                + " "
                                + (setting.field().text().equals("name")
                                        ? quoted(setting.value().text())
                                        : setting.value().text()));
            case MetricField.Flavors flavors -> line(field.at(), "flavor " + joined(flavors.flavors(), " "));
            case MetricField.Constrainable constrainable ->
                line(field.at(), "constraint " + constrainable.constraint());
            case MetricField.Replacement replacement -> constraint(replacement.constraint());
            case MetricField.Temporary temporary -> line(field.at(), "counter " + temporary.counter());
            case MetricField.Base base -> {
                line(
                        field.at(),
                        "base " + base.kind().word() + (base.kind().hasEvent() ? " " + quoted(base.event()) : ""));
                statements(base.statements());
            }
        }
    }

    private void statements(List<Statement> statements) {
        depth++;
        statements.forEach(this::statement);
        depth--;
    }

    private void statement(Statement statement) {
        switch (statement) {
            case Statement.Block block -> {
                line(block.at(), "block");
                statements(block.statements());
            }
            case Statement.Foreach loop -> {
                line(loop.at(), "foreach " + loop.variable() + " in " + expression(loop.in()));
                statements(List.of(loop.body()));
            }
            case Statement.If choice -> {
                line(choice.at(), "if " + expression(choice.condition()));
                statements(List.of(choice.body()));
            }
            case Statement.Insert insert -> {
                line(
                        insert.at(),
                        insert.order().word()
                                + " "
                                + insert.side().word()
                                + " "
                                + expression(insert.points())
                                + (insert.constrained() ? " constrained" : ""));
                insert.code().forEach(code -> inner(code.at(), code(code)));
            }
        }
    }

    private static String code(Code code) {
        return switch (code) {
            case Code.Effect(Expression effect) -> expression(effect);
            case Code.If(Expression condition, List<Code> body) ->
                body.stream()
                        .map(SyntaxPrinter::code)
                        .collect(Collectors.joining(" ", "(if " + expression(condition) + " ", ")"));
        };
    }

    /// An expression in prefix form.
    static String expression(Expression expression) {
        return switch (expression) {
            case Expression.IntegerLiteral literal -> Long.toString(literal.value());
            case Expression.DecimalLiteral literal -> Double.toString(literal.value());
            case Expression.StringLiteral literal -> quoted(literal.value());
            case Expression.BooleanLiteral literal -> Boolean.toString(literal.value());
            case Expression.Variable variable -> variable.name();
            case Expression.Attribute attribute -> "(. " + expression(attribute.of()) + " " + attribute.name() + ")";
            case Expression.Element element -> "([] " + element.of() + " " + expression(element.index()) + ")";
            case Expression.Negation negation -> "(- " + expression(negation.operand()) + ")";
            case Expression.AddressOf address -> "(& " + address.name() + ")";
            case Expression.Binary binary ->
                "(" + binary.operator().spelling() + " " + expression(binary.left()) + " " + expression(binary.right())
                        + ")";
            case Expression.Assignment assignment -> {
                Operator operator = assignment.operator();
                yield "(" + (operator == null ? "" : operator.spelling()) + "= " + assignment.target() + " "
                        + expression(assignment.value()) + ")";
            }
            case Expression.Increment increment -> "(++ " + increment.target() + ")";
            case Expression.Call call ->
                call.arguments().stream()
                        .map(argument -> " " + expression(argument))
                        .collect(Collectors.joining("", "(call " + call.function(), ")"));
        };
    }

    private void inner(int at, String text) {
        depth++;
        line(at, text);
        depth--;
    }

    private void line(int at, String text) {
        out.append("  ".repeat(depth))
                .append(text)
                .append("  @")
                .append(file.line(at))
                .append(':')
                .append(file.column(at))
                .append('\n');
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    private static String joined(List<Name> names, String separator) {
        return names.stream().map(Name::text).collect(Collectors.joining(separator));
    }
}
