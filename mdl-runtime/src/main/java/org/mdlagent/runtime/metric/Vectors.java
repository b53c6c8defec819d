package org.mdlagent.runtime.metric;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.PositionTable;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.request.Answer;
import org.mdlagent.runtime.mdl.request.ArgumentVector;
import org.mdlagent.runtime.mdl.request.Value;

/// Values that represent the flags of many objects each, and the tables that map numbers to objects (MDL paper,
/// section 5: vectorised by argument). Objects are added and removed by stores into a table, without changing the
/// code that sets the value.
///
/// Positions are never reused, because threads may be in a call with a removed object.
final class Vectors {
    private final Snippets snippets;

    /// Tables outlive their metrics, because session memory cannot be freed.
    private final Map<Value, Vector> vectors = new HashMap<>();

    /// The flags of the objects of a kind.
    static final class Vector {
        private final PositionTable table;
        private final SnippetGroup group;
        private final Map<Long, Integer> positions = new HashMap<>();
        private final Map<Long, Integer> references = new HashMap<>();
        private int last;
        private int users;
        private int index;

        private Vector(PositionTable table, SnippetGroup group) {
            this.table = table;
            this.group = group;
        }

        /// Index of the value.
        int index() {
            return index;
        }

        SnippetGroup group() {
            return group;
        }

        Expression.Position position(Expression number) {
            return table.of(number);
        }

        /// The value while an object is active.
        int selected(@Nullable Long object) {
            if (object == null) {
                return ArgumentVector.OTHER;
            }
            return ArgumentVector.OTHER + positions.computeIfAbsent(object, key -> ++last);
        }
    }

    Vectors(Snippets snippets) {
        this.snippets = snippets;
    }

    private Vector vector(Answer.Choice choice) {
        return vectors.computeIfAbsent(
                choice.selector(), key -> new Vector(snippets.positions(choice.direct()), new SnippetGroup(snippets)));
    }

    /// The current or future value of the choice's vector while its object is active.
    int selected(Answer.Choice choice) {
        return vector(choice).selected(choice.object());
    }

    /// Adds a selected object.
    ///
    /// @throws IllegalArgumentException if there is no place for it
    Vector retain(Answer.Choice choice) {
        Vector vector = vector(choice);
        Long object = choice.object();
        if (object != null && vector.references.merge(object, 1, Integer::sum) == 1) {
            try {
                vector.table.add(object, vector.selected(object) - ArgumentVector.OTHER);
            } catch (IllegalArgumentException | IllegalStateException e) {
                vector.references.remove(object);
                throw e;
            }
        }
        if (++vector.users == 1) {
            vector.index = snippets.values().flag();
        }
        return vector;
    }

    /// Whether the vector's snippets are not yet attached.
    static boolean isNew(Vector vector) {
        return vector.users == 1;
    }

    /// Releases an object. Releasing the last one removes the snippets.
    ///
    /// @return index of the value to release once the snippets are removed
    OptionalInt release(Answer.Choice choice) {
        Vector vector = vector(choice);
        Long object = choice.object();
        if (object != null && vector.references.merge(object, -1, Integer::sum) == 0) {
            vector.references.remove(object);
            vector.positions.remove(object);
            vector.table.remove(object);
        }
        return --vector.users == 0 ? OptionalInt.of(vector.index) : OptionalInt.empty();
    }
}
