package org.mdlagent.runtime.mdl.request;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.runtime.mdl.syntax.Statement;

/// Executes statements and collects the snippets that they request.
final class SnippetCollector {
    /// Limit of executed statements per request: stops nested loops over all procedures.
    private static final int STATEMENTS_MAX = 5_000_000;

    /// Limit of snippets per request: each takes some hundred bytes of the agent's memory.
    private static final int SNIPPETS_MAX = 100_000;

    private final Program program;
    private final WhereEvaluator where;
    private final List<SnippetRequest> snippets = new ArrayList<>();
    private final Set<Answer.Obstacle> obstacles = new LinkedHashSet<>();

    /// Functions with requested returns that no probe sees.
    private final Set<Procedure> endless = new HashSet<>();

    private int executed;

    SnippetCollector(Program program, WhereEvaluator where) {
        this.program = program;
        this.where = where;
    }

    /// Returns the snippets requested since the last call. A function whose requested return is not seen gets none
    /// at its entry, because a flag or timer that starts there would never stop. Except `main`, because the
    /// process ends with it.
    List<SnippetRequest> take() {
        List<SnippetRequest> taken = new ArrayList<>(snippets.size());
        for (SnippetRequest snippet : snippets) {
            if (snippet.point() instanceof Point.Entry entry && endless.contains(entry.procedure())) {
                obstacles.add(new Answer.Obstacle(entry.description(), "left out: no probe sees the return"));
            } else {
                taken.add(snippet);
            }
        }
        snippets.clear();
        endless.clear();
        return taken;
    }

    List<Answer.Obstacle> obstacles() {
        return List.copyOf(obstacles);
    }

    /// @param guards flags of `constrained` snippets
    void execute(List<Statement> statements, Environment environment, List<Value> guards) throws Unresolvable {
        for (Statement statement : statements) {
            execute(statement, environment, guards);
        }
    }

    private void execute(Statement statement, Environment environment, List<Value> guards) throws Unresolvable {
        if (++executed > STATEMENTS_MAX) {
            throw new Unresolvable("the request", "it executes more than " + STATEMENTS_MAX + " statements");
        }
        switch (statement) {
            case Statement.Block block -> execute(block.statements(), environment, guards);
            case Statement.Foreach loop -> {
                String name = loop.variable().text();
                for (WhereValue element : where.evaluate(loop.in(), environment).elements()) {
                    execute(loop.body(), environment.withVariable(name, element), guards);
                }
            }
            case Statement.If choice -> {
                if (where.evaluate(choice.condition(), environment).isTrue()) {
                    execute(choice.body(), environment, guards);
                }
            }
            case Statement.Insert insert -> {
                insert(insert, environment, guards);
                if (snippets.size() > SNIPPETS_MAX) {
                    throw new Unresolvable("the request", "it needs more than " + SNIPPETS_MAX + " snippets");
                }
            }
        }
    }

    /// A missing part of one snippet does not stop the others.
    private void insert(Statement.Insert insert, Environment environment, List<Value> guards) {
        try {
            List<WhereValue> points =
                    where.evaluate(insert.points(), environment).elements();
            List<SnippetRequest.Step> code = new CodeResolver(program, where, environment).steps(insert.code());
            List<Value> tested = insert.constrained() ? guards : List.of();
            for (WhereValue value : points) {
                Point point = ((WhereValue.OfPoint) value).point();
                String obstacle = program.obstacle(point);
                if (obstacle == null) {
                    snippets.add(new SnippetRequest(point, insert.side(), insert.order(), tested, code));
                } else {
                    obstacles.add(new Answer.Obstacle(point.description(), obstacle));
                    if (point instanceof Point.Return end && !end.procedure().equals(program.start())) {
                        endless.add(end.procedure());
                    }
                }
            }
        } catch (Unresolvable e) {
            obstacles.add(e.obstacle());
        }
    }
}
