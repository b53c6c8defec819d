package org.mdlagent.runtime.mdl.syntax;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.runtime.mdl.syntax.Token.Kind;

/// The tokens of a file, read in order, with error recovery.
final class TokenStream {
    /// Limits recursion over the tree; no hand-written file comes near it.
    private static final int NESTING_MAX = 100;

    /// Words that only begin definitions. At the beginning of a line they end an unclosed definition.
    private static final Set<String> DEFINITION_ONLY =
            Set.of("metric", "list", "resourceList", "exclude", "tunable_constant", "daemon", "visi");

    private final SourceFile file;
    private final Diagnostics diagnostics;
    private final List<Token> tokens;
    private int next;
    private int braces;
    private int nesting;

    TokenStream(SourceFile file, Diagnostics diagnostics) {
        this.file = file;
        this.diagnostics = diagnostics;
        this.tokens = Lexer.read(file, diagnostics);
    }

    Diagnostics diagnostics() {
        return diagnostics;
    }

    int line(int offset) {
        return file.line(offset);
    }

    Token peek() {
        return tokens.get(next);
    }

    boolean at(Kind kind) {
        return peek().kind() == kind;
    }

    boolean atWord(String word) {
        return peek().is(word);
    }

    boolean atWord(Set<String> words) {
        return at(Kind.IDENTIFIER) && words.contains(peek().text());
    }

    /// Whether all open parts end here: the file ends, or a definition begins.
    boolean atBoundary() {
        return at(Kind.END) || atWord(DEFINITION_ONLY) && file.column(peek().at()) == 1;
    }

    Token take() {
        Token token = peek();
        if (token.kind() == Kind.OPEN_BRACE) {
            braces++;
        } else if (token.kind() == Kind.CLOSE_BRACE && braces > 0) {
            braces--;
        }
        if (token.kind() != Kind.END) {
            next++;
        }
        return token;
    }

    boolean accept(Kind kind) {
        if (!at(kind)) {
            return false;
        }
        take();
        return true;
    }

    boolean acceptWord(String word) {
        if (!atWord(word)) {
            return false;
        }
        take();
        return true;
    }

    Token expect(Kind kind) {
        return expect(kind, kind.description());
    }

    Token expect(Kind kind, String what) {
        if (!at(kind)) {
            throw expected(what);
        }
        return take();
    }

    void expectWord(String word) {
        if (!acceptWord(word)) {
            throw expected("'" + word + "'", List.of(word));
        }
    }

    Name name(String what) {
        Token token = expect(Kind.IDENTIFIER, what);
        return new Name(token.text(), token.at());
    }

    /// Consumes a semicolon. Reports one missing at the end of a line there, and continues on the next line.
    void semicolon() {
        if (accept(Kind.SEMICOLON)) {
            return;
        }
        int end = tokens.get(next - 1).end();
        SyntaxError error = error(end, "expected ';', found " + found(), null);
        if (file.line(end) == file.line(peek().at())) {
            throw error;
        }
    }

    /// Consumes the brace that closes a definition.
    void close(String what, int opened) {
        if (!accept(Kind.CLOSE_BRACE)) {
            throw expected("'}' that closes " + what + " of line " + line(opened));
        }
    }

    SyntaxError expected(String what) {
        return expected(what, List.of());
    }

    /// Reports an unexpected token.
    ///
    /// @param words the possible words here
    SyntaxError expected(String what, Collection<String> words) {
        Token token = peek();
        String hint = token.kind() == Kind.IDENTIFIER ? Spelling.hint(token.text(), words) : null;
        return error(token.at(), "expected " + what + ", found " + found(), hint);
    }

    SyntaxError error(int at, String message, @Nullable String hint) {
        diagnostics.error(at, message, hint);
        return new SyntaxError();
    }

    private String found() {
        return peek().description();
    }

    /// Enters a part that may nest.
    void enter() {
        if (++nesting > NESTING_MAX) {
            throw error(peek().at(), "nested more than " + NESTING_MAX + " deep", null);
        }
    }

    void leave() {
        nesting--;
    }

    /// The current position, for [#recover].
    Mark mark() {
        return new Mark(next, braces, nesting);
    }

    /// The name of a definition, "" if it has none.
    String nameOf(Mark definition) {
        Token token = tokens.get(Math.min(definition.next + 1, tokens.size() - 1));
        return token.kind() == Kind.IDENTIFIER ? token.text() : "";
    }

    /// @param braces number of open braces
    record Mark(int next, int braces, int nesting) {}

    /// Skips the rest of a part that began at a mark: past its semicolon or brace, or up to a token that cannot
    /// belong to it.
    ///
    /// @param starts words that begin another part
    void recover(Mark mark, Set<String> starts) {
        nesting = mark.nesting;
        if (next == mark.next && (braces == 0 || !at(Kind.CLOSE_BRACE))) {
            take();
        }
        boolean code = false;
        while (!atBoundary()) {
            boolean outside = braces <= mark.braces;
            if (outside && (at(Kind.CLOSE_BRACE) || !code && atWord(starts))) {
                return;
            }
            Kind kind = take().kind();
            code = kind == Kind.OPEN_CODE || code && kind != Kind.CLOSE_CODE;
            boolean ends = switch (kind) {
                case SEMICOLON -> outside && !code;
                case CLOSE_CODE -> outside;
                case CLOSE_BRACE -> braces <= mark.braces && !at(Kind.COMMA);
                default -> false;
            };
            if (ends) {
                accept(Kind.SEMICOLON);
                return;
            }
        }
    }

    /// Skips the rest of a code statement: past its semicolon or block, or up to the end of the code.
    void recoverCode(Mark mark, Set<String> starts) {
        nesting = mark.nesting;
        while (!atBoundary() && !at(Kind.CLOSE_CODE) && !atWord(starts)) {
            boolean outside = braces <= mark.braces;
            if (outside && at(Kind.CLOSE_BRACE)) {
                return;
            }
            Kind kind = take().kind();
            if (outside && kind == Kind.SEMICOLON || braces == mark.braces && kind == Kind.CLOSE_BRACE) {
                return;
            }
        }
        braces = mark.braces;
    }

    /// Begins a definition: closes all open parts.
    void resetNesting() {
        braces = 0;
        nesting = 0;
    }
}
