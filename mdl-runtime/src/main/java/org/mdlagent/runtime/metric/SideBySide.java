package org.mdlagent.runtime.metric;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.snippet.Expression.Member;
import org.mdlagent.arch.snippet.Statement.Clock;
import org.mdlagent.fastinst.snippet.Values;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// Places flags and values of metrics that are enabled together, one for each of several resources: flags in sets,
/// and the values of a set adjacent. So shared code tests 64 flags at once (MDL paper, section 5: vectorised
/// instances). Metrics that do not fit are placed individually.
final class SideBySide implements AutoCloseable {
    /// Allowed unused values per used one.
    private static final int SPARSE_MAX = 2;

    private final Values values;
    private final Flags flags;
    private final Map<Answer.Flag, Member> members = new HashMap<>();
    private final Map<Answer.Instance, Integer> indices = new HashMap<>();

    /// Reservations until the metrics have taken their values.
    private final List<Integer> held = new ArrayList<>();

    private int set;
    private int bits = Long.SIZE;

    /// @param flags existing flags
    SideBySide(Values values, Flags flags) {
        this.values = values;
        this.flags = flags;
    }

    /// Allocates places for metrics to be enabled together.
    ///
    /// @throws IllegalStateException if all values are taken, or the session is full
    void reserve(Collection<Answer.Instance> instances) {
        Map<Object, Map<Integer, Answer.Instance>> sets = new LinkedHashMap<>();
        for (Answer.Instance instance : instances) {
            if (instances.size() == 1 || instance.flags().size() != 1) {
                continue;
            }
            Answer.Choice choice = instance.flags().getFirst().choice();
            if (choice != null) {
                sets.computeIfAbsent(choice.selector(), key -> new HashMap<>())
                        .put(flags.vectors().selected(choice), instance);
            } else {
                place(instance.flags().getFirst())
                        .ifPresent(member -> sets.computeIfAbsent(member.set(), key -> new HashMap<>())
                                .put(member.bit(), instance));
            }
        }
        sets.values().stream().filter(ofSet -> ofSet.size() > 1).forEach(this::placeValues);
    }

    /// A flag's member of a set, if it is new or in a set already.
    private Optional<Member> place(Answer.Flag flag) {
        if (flags.contains(flag)) {
            return flags.member(flag);
        }
        return Optional.of(members.computeIfAbsent(flag, key -> next()));
    }

    private Member next() {
        if (bits == Long.SIZE) {
            set = values.flag();
            held.add(set);
            bits = 0;
        }
        return new Member(set, bits++);
    }

    /// @param instances of one set, by bit; or of one vector, by number
    private void placeValues(Map<Integer, Answer.Instance> instances) {
        BitSet taken = new BitSet();
        instances.keySet().forEach(taken::set);
        int low = taken.nextSetBit(0);
        if (taken.length() - low > SPARSE_MAX * instances.size() + Long.SIZE) {
            return;
        }
        ValueKind kind = instances.values().iterator().next().value().kind();
        int first = allocate(values, kind, taken.length() - low);
        int size = kind.isTimer() ? ValueDescriptor.TIMER_SIZE : 1;
        for (int bit = low; first != 0 && bit < taken.length(); bit++) {
            int index = first + size * (bit - low);
            held.add(index);
            Answer.Instance instance = instances.get(bit);
            if (instance != null) {
                indices.put(instance, index);
            }
        }
    }

    /// Allocates adjacent values, each with one reference.
    ///
    /// @return the first; 0 if there is no room for them
    static int allocate(Values values, ValueKind kind, int count) {
        return switch (kind) {
            case WALL_TIMER -> values.timers(Clock.WALL, count);
            case PROCESS_TIMER -> values.timers(Clock.THREAD_CPU, count);
            default -> values.counters(count);
        };
    }

    /// A new flag's member of a set.
    Optional<Member> member(Answer.Flag flag) {
        return Optional.ofNullable(members.get(flag));
    }

    /// The place of a metric's value, if it is placed here.
    Map<Value, Integer> of(Answer.Instance instance) {
        Integer index = indices.get(instance);
        return index == null ? Map.of() : Map.of(instance.value(), index);
    }

    /// Hands all reservations over to the metrics.
    @Override
    public void close() {
        held.forEach(values::release);
    }
}
