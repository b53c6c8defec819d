package org.mdlagent.arch.snippet;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.snippet.Expression.Compare;
import org.mdlagent.arch.snippet.Expression.Constant;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Expression.Relation;
import org.mdlagent.arch.snippet.Expression.Value;
import org.mdlagent.arch.snippet.Statement.ForEach;
import org.mdlagent.arch.snippet.Statement.ForSelected;
import org.mdlagent.arch.snippet.Statement.If;

/// Merges snippets that do the same for several members of a set, or for several instances selected by a value,
/// each with its own values (MDL paper, section 5: vectorised instances). The merged snippet finds members by
/// their bits and the instance by its number; the others cost nothing.
public final class Vectorisation {
    /// Instances with a higher number are not merged.
    private static final int NUMBERS_MAX = 1 << 20;

    private Vectorisation() {}

    /// A chain with the same effect, of at most the same length. A snippet moves forward only past snippets that
    /// it commutes with.
    public static List<Snippet> vectorise(List<Snippet> chain) {
        if (chain.stream().filter(snippet -> Guarded.of(snippet) != null).count() < 2) {
            return chain;
        }
        List<Group> groups = new ArrayList<>();
        for (Snippet snippet : chain) {
            if (!joins(snippet, groups)) {
                groups.add(new Group(snippet));
            }
        }
        return groups.stream().flatMap(group -> group.snippets().stream()).toList();
    }

    private static boolean joins(Snippet snippet, List<Group> groups) {
        Guarded guarded = Guarded.of(snippet);
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

    /// The condition of a snippet: a set has a member, or a value has a number.
    ///
    /// @param bits   whether `value` is a set
    /// @param value  index of the set or of the value
    /// @param number of the member or the instance
    private record Guarded(boolean bits, int value, int number, List<Statement> body) {
        /// The snippet's condition and body, if it has no other part.
        static @Nullable Guarded of(Snippet snippet) {
            if (snippet.statements().size() != 1
                    || !(snippet.statements().getFirst() instanceof If(Expression condition, List<Statement> body))) {
                return null;
            }
            return switch (condition) {
                case Member(int set, int bit) -> new Guarded(true, set, bit, body);
                case Compare(Relation relation, Value(int index), Constant(long number))
                when relation == Relation.EQUAL && number >= 0 && number < NUMBERS_MAX ->
                    new Guarded(false, index, (int) number, body);
                default -> null;
            };
        }

        boolean isLike(Guarded other) {
            return bits == other.bits && value == other.value;
        }
    }

    /// A snippet, and the snippets that do the same for other members or instances.
    private static final class Group {
        private final Snippet snippet;
        private final Effects effects;

        /// The snippet's condition and body if it can be merged; otherwise null.
        private final @Nullable Guarded written;

        /// All of the group, once there are two; for instances only the first.
        private @Nullable Statement all;

        /// The instances of the group.
        private final BitSet selected = new BitSet();

        Group(Snippet snippet) {
            this.snippet = snippet;
            effects = Effects.of(snippet.statements());
            written = Guarded.of(snippet);
        }

        /// One snippet for all members of a set, or for instances with consecutive numbers: the values of a
        /// missing number may belong to others.
        List<Snippet> snippets() {
            if (!(all instanceof ForSelected one)) {
                return List.of(all == null ? snippet : Snippet.of(all));
            }
            List<Snippet> runs = new ArrayList<>();
            for (int low = selected.nextSetBit(0); low >= 0; low = selected.nextSetBit(low)) {
                int end = selected.nextClearBit(low);
                int first = one.first() + one.stride() * (low - one.lowest());
                runs.add(Snippet.of(
                        new ForSelected(one.selector(), low, end - low, first, one.stride(), one.bodyOf(low))));
                low = end;
            }
            return runs;
        }

        /// Adds a snippet to the group if it does the same and commutes with all of the group.
        boolean takesIn(Guarded other, Effects othersEffects) {
            if (written == null || !written.isLike(other)) {
                return false;
            }
            Statement before = all == null ? alone(written, other) : all;
            Statement more = before == null ? null : with(before, other);
            if (more != null) {
                all = more;
                effects.add(othersEffects);
            }
            return more != null;
        }

        private @Nullable Statement with(Statement before, Guarded other) {
            return switch (before) {
                case ForEach each -> with(each, other);
                case ForSelected one -> with(one, other);
                default -> throw new AssertionError("unexpected statement: " + before);
            };
        }

        private static @Nullable Statement with(ForEach each, Guarded other) {
            int bits = other.number - each.written().bit();
            if (!ForEach.hasRoom(each.first(), each.stride(), bits) || !other.body.equals(each.bodyOf(other.number))) {
                return null;
            }
            long members = each.members() | 1L << other.number;
            return new ForEach(each.written(), members, each.first(), each.stride(), each.body());
        }

        private @Nullable Statement with(ForSelected one, Guarded other) {
            if (!ForEach.hasRoom(one.first(), one.stride(), other.number - one.lowest())
                    || !other.body.equals(one.bodyOf(other.number))) {
                return null;
            }
            selected.set(one.lowest());
            selected.set(other.number);
            return one;
        }

        /// The first snippet, with the values that differ between members as its own; null if that is impossible.
        private static @Nullable Statement alone(Guarded guarded, Guarded other) {
            int numbers = other.number - guarded.number;
            List<Integer> values = values(guarded.body);
            List<Integer> others = values(other.body);
            int at = 0;
            while (at < values.size() && at < others.size() && values.get(at).equals(others.get(at))) {
                at++;
            }
            if (numbers == 0 || at == values.size() || at == others.size()) {
                return null;
            }
            int own = values.get(at);
            int distance = others.get(at) - own;
            if (distance % numbers != 0 || !ForEach.hasRoom(own, distance / numbers, 0)) {
                return null;
            }
            int stride = distance / numbers;
            return guarded.bits
                    ? new ForEach(
                            new Member(guarded.value, guarded.number), 1L << guarded.number, own, stride, guarded.body)
                    : new ForSelected(guarded.value, guarded.number, 1, own, stride, guarded.body);
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
