package org.mdlagent.arch.snippet;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.If;

/// Makes one snippet of those that do the same for several members of a set, each with values of its own (MDL paper,
/// section 5: vectorised instances). It finds the members that are in the set by their bits; the others cost nothing.
public final class Vectorisation {
    private Vectorisation() {}

    /// A chain with the same effect, as long or shorter. A snippet moves to the front only past those that it has
    /// nothing to do with.
    public static List<Snippet> vectorise(List<Snippet> chain) {
        if (chain.stream().filter(snippet -> guarded(snippet) != null).count() < 2) {
            return chain;
        }
        List<Group> groups = new ArrayList<>();
        for (Snippet snippet : chain) {
            if (!joins(snippet, groups)) {
                groups.add(new Group(snippet));
            }
        }
        return groups.stream().map(Group::snippet).toList();
    }

    private static boolean joins(Snippet snippet, List<Group> groups) {
        If guarded = guarded(snippet);
        if (guarded == null) {
            return false;
        }
        Effects effects = Effects.of(snippet.statements());
        if (effects.needsRoom()) {
            return false;
        }
        for (int i = groups.size() - 1; i >= 0 && groups.get(i).effects.commuteWith(effects); i--) {
            if (groups.get(i).takesIn(guarded, effects)) {
                return true;
            }
        }
        return false;
    }

    /// What a snippet does while its set has a member, if that is all that it does.
    private static @Nullable If guarded(Snippet snippet) {
        return snippet.statements().size() == 1
                        && snippet.statements().getFirst() instanceof If guarded
                        && guarded.condition() instanceof Member
                ? guarded
                : null;
    }

    /// A snippet, and those that do the same for other members.
    private static final class Group {
        private final Snippet snippet;
        private final Effects effects;

        /// All of the group, once there are two.
        private @Nullable ForEach each;

        Group(Snippet snippet) {
            this.snippet = snippet;
            effects = Effects.of(snippet.statements());
        }

        Snippet snippet() {
            return each == null ? snippet : Snippet.of(each);
        }

        /// Takes in what commutes with all of the group, if it does the same.
        boolean takesIn(If other, Effects othersEffects) {
            ForEach first = each == null ? alone(other) : each;
            Member member = (Member) other.condition();
            if (first == null
                    || member.set() != first.written().set()
                    || !ForEach.hasRoom(
                            first.first(),
                            first.stride(),
                            member.bit() - first.written().bit())
                    || !other.body().equals(first.bodyOf(member.bit()))) {
                return false;
            }
            long members = first.members() | 1L << member.bit();
            each = new ForEach(first.written(), members, first.first(), first.stride(), first.body());
            effects.add(othersEffects);
            return true;
        }

        /// The first snippet, with the values as its own in which it differs from another; null when they cannot be.
        private @Nullable ForEach alone(If other) {
            If guarded = guarded(snippet);
            if (guarded == null) {
                return null;
            }
            Member member = (Member) guarded.condition();
            int bits = ((Member) other.condition()).bit() - member.bit();
            List<Integer> values = values(guarded.body());
            List<Integer> others = values(other.body());
            int at = 0;
            while (at < values.size() && at < others.size() && values.get(at).equals(others.get(at))) {
                at++;
            }
            if (bits == 0 || at == values.size() || at == others.size()) {
                return null;
            }
            int own = values.get(at);
            int distance = others.get(at) - own;
            return distance % bits == 0 && ForEach.hasRoom(own, distance / bits, 0)
                    ? new ForEach(member, 1L << member.bit(), own, distance / bits, guarded.body())
                    : null;
        }
    }

    private static List<Integer> values(List<Statement> statements) {
        List<Integer> values = new ArrayList<>();
        List<Statement> unused = Rewriting.renumbering(value -> {
                    values.add(value);
                    return value;
                })
                .of(statements);
        return values;
    }
}
