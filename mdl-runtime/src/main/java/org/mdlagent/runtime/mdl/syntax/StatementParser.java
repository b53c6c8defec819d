package org.mdlagent.runtime.mdl.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.mdlagent.runtime.mdl.syntax.Statement.Order;
import org.mdlagent.runtime.mdl.syntax.Statement.Side;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// Parses statements, and the code in them.
final class StatementParser {
    static final Set<String> WORDS = Set.of("foreach", "if", "append", "prepend");

    /// Words that begin a statement and cannot occur in code.
    private static final Set<String> BEHIND_CODE = Set.of("foreach", "append", "prepend");

    private final TokenStream tokens;
    private final ExpressionParser expressions;

    StatementParser(TokenStream tokens) {
        this.tokens = tokens;
        this.expressions = new ExpressionParser(tokens);
    }

    /// Whether a statement begins here.
    boolean begins() {
        return tokens.at(Kind.OPEN_BRACE) || tokens.atWord(WORDS);
    }

    /// Parses `{ statement... }`.
    ///
    /// @param what content of the braces, for messages
    List<Statement> block(String what) {
        int opened = tokens.expect(Kind.OPEN_BRACE).at();
        List<Statement> statements = new ArrayList<>();
        while (!tokens.at(Kind.CLOSE_BRACE) && !tokens.atBoundary()) {
            TokenStream.Mark mark = tokens.mark();
            try {
                statements.add(statement());
            } catch (SyntaxError e) {
                tokens.recover(mark, WORDS);
            }
        }
        tokens.close(what, opened);
        return List.copyOf(statements);
    }

    /// Parses one statement.
    Statement statement() {
        tokens.enter();
        Token token = tokens.peek();
        Statement statement =
                switch (token.kind() == Kind.IDENTIFIER || token.kind() == Kind.OPEN_BRACE ? token.text() : "") {
                    case "{" -> new Statement.Block(block("the block"), token.at());
                    case "foreach" -> foreach();
                    case "if" -> condition();
                    case "append" -> insert(Order.APPEND);
                    case "prepend" -> insert(Order.PREPEND);
                    default -> throw tokens.expected("a statement (foreach, if, append, prepend or a block)", WORDS);
                };
        tokens.leave();
        return statement;
    }

    private Statement foreach() {
        int at = tokens.take().at();
        Name variable = tokens.name("the name of a variable");
        tokens.expectWord("in");
        Expression in = expressions.expression();
        return new Statement.Foreach(variable, in, statement(), at);
    }

    private Statement condition() {
        int at = tokens.take().at();
        tokens.expect(Kind.OPEN);
        Expression condition = expressions.expression();
        tokens.expect(Kind.CLOSE);
        return new Statement.If(condition, statement(), at);
    }

    private Statement insert(Order order) {
        int at = tokens.take().at();
        Side side = side();
        Expression points = expressions.expression();
        boolean constrained = tokens.acceptWord("constrained");
        tokens.expect(Kind.OPEN_CODE, constrained ? "'(*'" : "'constrained' or '(*'");
        return new Statement.Insert(order, side, points, constrained, code(), at);
    }

    private Side side() {
        for (Side side : Side.values()) {
            if (tokens.acceptWord(side.word())) {
                return side;
            }
        }
        throw tokens.expected("'preInsn' or 'postInsn'", List.of("preInsn", "postInsn"));
    }

    private List<Code> code() {
        List<Code> code = codeStatements();
        tokens.expect(Kind.CLOSE_CODE, "'*)' that ends the code");
        return code;
    }

    private List<Code> codeStatements() {
        List<Code> code = new ArrayList<>();
        while (!tokens.at(Kind.CLOSE_CODE)
                && !tokens.at(Kind.CLOSE_BRACE)
                && !tokens.atWord(BEHIND_CODE)
                && !tokens.atBoundary()) {
            TokenStream.Mark mark = tokens.mark();
            try {
                code.add(codeStatement());
            } catch (SyntaxError e) {
                tokens.recoverCode(mark, BEHIND_CODE);
            }
        }
        return List.copyOf(code);
    }

    private Code codeStatement() {
        if (tokens.acceptWord("if")) {
            return codeCondition();
        }
        Expression effect = expressions.expression();
        tokens.semicolon();
        return new Code.Effect(effect);
    }

    private Code codeCondition() {
        tokens.enter();
        tokens.expect(Kind.OPEN);
        Expression condition = expressions.expression();
        tokens.expect(Kind.CLOSE);
        List<Code> body = tokens.at(Kind.OPEN_BRACE) ? codeBlock() : List.of(codeStatement());
        tokens.leave();
        return new Code.If(condition, body);
    }

    private List<Code> codeBlock() {
        int opened = tokens.take().at();
        if (tokens.at(Kind.CLOSE_BRACE)) {
            throw tokens.error(opened, "the block has no statement", null);
        }
        List<Code> body = codeStatements();
        tokens.close("the block", opened);
        return body;
    }
}
