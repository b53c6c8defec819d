package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.request.Answer;

/// Flags of constraints, shared by all metrics that test them. Flags of objects may be combined in one value
/// ([Vectors]).
final class Flags {
    private final Snippets snippets;
    private final Vectors vectors;
    private final Map<Answer.Flag, Shared> flags = new HashMap<>();

    /// A flag in use.
    static final class Shared {
        private Answer.Flag flag;
        private final int index;
        private final Optional<Member> member;
        private final Vectors.@Nullable Vector vector;
        private final SnippetGroup group;
        private int references;

        private Shared(
                Answer.Flag flag,
                int index,
                Optional<Member> member,
                Vectors.@Nullable Vector vector,
                SnippetGroup group) {
            this.flag = flag;
            this.index = index;
            this.member = member;
            this.vector = vector;
            this.group = group;
        }

        int index() {
            return index;
        }

        /// Its member of a set, if it has one.
        Optional<Member> member() {
            return member;
        }

        /// Its vector, if its value also represents other flags.
        Vectors.@Nullable Vector vector() {
            return vector;
        }

        /// The value while the flag is set, if the value also represents other flags.
        OptionalInt selected() {
            Answer.Choice choice = flag.choice();
            return vector == null || choice == null
                    ? OptionalInt.empty()
                    : OptionalInt.of(vector.selected(choice.object()));
        }

        SnippetGroup group() {
            return group;
        }

        /// Attaches its snippets, unless they are attached.
        void attach(ProbedProgram program, Lowering lowering) throws IOException {
            if (vector == null ? references == 1 : Vectors.isNew(vector)) {
                group.attach(flag.snippets(), program, lowering);
            }
        }
    }

    Flags(Snippets snippets) {
        this.snippets = snippets;
        vectors = new Vectors(snippets);
    }

    Vectors vectors() {
        return vectors;
    }

    /// Whether any metric tests the flag.
    boolean contains(Answer.Flag flag) {
        return flags.containsKey(flag);
    }

    /// The member of a set of a flag in use, if it has one.
    Optional<Member> member(Answer.Flag flag) {
        Shared shared = flags.get(flag);
        return shared == null ? Optional.empty() : shared.member;
    }

    /// Acquires the flag for a metric.
    ///
    /// @param places place of a new flag
    /// @throws IllegalArgumentException if there is no place for its object
    Shared retain(Answer.Flag flag, SideBySide places) {
        Shared shared = flags.get(flag);
        if (shared == null) {
            shared = flag.choice() == null ? make(flag, places.member(flag)) : make(flag, flag.choice());
            flags.put(flag, shared);
        }
        shared.references++;
        return shared;
    }

    private Shared make(Answer.Flag flag, Optional<Member> member) {
        int index = snippets.values().flag();
        member.ifPresent(in -> snippets.values().retain(in.set()));
        return new Shared(flag, index, member, null, new SnippetGroup(snippets));
    }

    private Shared make(Answer.Flag flag, Answer.Choice choice) {
        Vectors.Vector vector = vectors.retain(choice);
        return new Shared(flag, vector.index(), Optional.empty(), vector, vector.group());
    }

    /// Extends the flag to more points.
    void follow(Shared shared, Answer.Flag now, ProbedProgram program, Lowering lowering) throws IOException {
        flags.remove(shared.flag, shared);
        shared.flag = now;
        flags.putIfAbsent(now, shared);
        shared.group.attach(now.snippets(), program, lowering);
    }

    /// Releases the flag for a metric.
    void release(Shared shared) throws IOException {
        if (--shared.references > 0) {
            return;
        }
        flags.remove(shared.flag, shared);
        if (shared.flag.choice() == null) {
            shared.group.detach();
            snippets.values().release(shared.index);
            shared.member.ifPresent(in -> snippets.values().release(in.set()));
            return;
        }
        OptionalInt unused = vectors.release(shared.flag.choice());
        if (unused.isPresent()) {
            shared.group.detach();
            snippets.values().release(unused.getAsInt());
        }
    }
}
