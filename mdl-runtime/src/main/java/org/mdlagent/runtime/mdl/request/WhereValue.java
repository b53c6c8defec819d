package org.mdlagent.runtime.mdl.request;

import java.util.List;
import org.mdlagent.runtime.mdl.request.Program.CodeModule;

/// The value of a statement's expression at request time.
sealed interface WhereValue {
    /// @param copies its compiler-made copies: usually one
    record OfProcedure(List<Procedure> copies) implements WhereValue {
        OfProcedure(Procedure procedure) {
            this(List.of(procedure));
        }
    }

    record OfModule(CodeModule module) implements WhereValue {}

    record OfPoint(Point point) implements WhereValue {}

    /// An integer; a condition yields 0 or 1.
    record Whole(long value) implements WhereValue {}

    record Real(double value) implements WhereValue {}

    record Text(String value) implements WhereValue {}

    record Items(List<WhereValue> values) implements WhereValue {}

    static WhereValue truth(boolean value) {
        return new Whole(value ? 1 : 0);
    }

    /// As a list: a point is a list of one.
    default List<WhereValue> elements() {
        return this instanceof Items items ? items.values() : List.of(this);
    }

    default boolean isTrue() {
        return this instanceof Whole whole ? whole.value() != 0 : this instanceof Real real && real.value() != 0;
    }
}
