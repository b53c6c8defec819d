package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.mdlagent.fastinst.Snippets;
import org.mdlagent.runtime.mdl.request.Answer;

/// Flags of constraints, each of which is set and cleared once for all metrics that test it.
final class Flags {
    private final Snippets snippets;
    private final Map<Answer.Flag, Shared> flags = new HashMap<>();

    /// A flag that somebody tests.
    static final class Shared {
        private Answer.Flag flag;
        private final int index;
        private final SnippetGroup group;
        private int references;

        private Shared(Answer.Flag flag, int index, SnippetGroup group) {
            this.flag = flag;
            this.index = index;
            this.group = group;
        }

        int index() {
            return index;
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

    /// The flag, for another metric.
    Shared retain(Answer.Flag flag) {
        Shared shared = flags.computeIfAbsent(
                flag, key -> new Shared(key, snippets.values().flag(), new SnippetGroup(snippets)));
        shared.references++;
        return shared;
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
        }
    }
}
