package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.request.Answer;

/// Flags of constraints, each of which is set and cleared once for all metrics that test it.
final class Flags {
    private final Snippets snippets;
    private final Map<Answer.Flag, Shared> flags = new HashMap<>();

    /// A flag that somebody tests.
    static final class Shared {
        private Answer.Flag flag;
        private final int index;
        private final Optional<Member> member;
        private final SnippetGroup group;
        private int references;

        private Shared(Answer.Flag flag, int index, Optional<Member> member, SnippetGroup group) {
            this.flag = flag;
            this.index = index;
            this.member = member;
            this.group = group;
        }

        int index() {
            return index;
        }

        /// As what it is in a set too, if it is.
        Optional<Member> member() {
            return member;
        }

        SnippetGroup group() {
            return group;
        }

        /// Attaches its snippets, unless another has done so.
        void attach(ProbedProgram program, Lowering lowering) throws IOException {
            if (references == 1) {
                group.attach(flag.snippets(), program, lowering);
            }
        }
    }

    Flags(Snippets snippets) {
        this.snippets = snippets;
    }

    /// Whether somebody tests the flag.
    boolean contains(Answer.Flag flag) {
        return flags.containsKey(flag);
    }

    /// As what a flag that somebody tests is in a set too, if it is.
    Optional<Member> member(Answer.Flag flag) {
        Shared shared = flags.get(flag);
        return shared == null ? Optional.empty() : shared.member;
    }

    /// The flag, for another metric.
    ///
    /// @param places where it is to be if it is new
    Shared retain(Answer.Flag flag, SideBySide places) {
        Shared shared = flags.computeIfAbsent(flag, key -> make(key, places.member(key)));
        shared.references++;
        return shared;
    }

    private Shared make(Answer.Flag flag, Optional<Member> member) {
        int index = snippets.values().flag();
        member.ifPresent(in -> snippets.values().retain(in.set()));
        return new Shared(flag, index, member, new SnippetGroup(snippets));
    }

    /// The same flag is set and cleared at more points than before.
    void follow(Shared shared, Answer.Flag now, ProbedProgram program, Lowering lowering) throws IOException {
        flags.remove(shared.flag, shared);
        shared.flag = now;
        flags.putIfAbsent(now, shared);
        shared.group.attach(now.snippets(), program, lowering);
    }

    /// A metric does not test the flag any more.
    void release(Shared shared) throws IOException {
        if (--shared.references == 0) {
            flags.remove(shared.flag, shared);
            shared.group.detach();
            snippets.values().release(shared.index);
            shared.member.ifPresent(in -> snippets.values().release(in.set()));
        }
    }
}
