package org.mdlagent.arch.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.code.FunctionCopy.Arc;
import org.mdlagent.arch.layout.ArcDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;

/// Enums of C that Java has as enums, too: each constant of one has its counterpart. The values are generated.
class SharedKindsTest {
    private static List<Integer> codes(Class<?> descriptor) throws IllegalAccessException {
        List<Integer> codes = new ArrayList<>();
        for (Field field : descriptor.getFields()) {
            if (field.getName().startsWith("KIND_")) {
                codes.add(field.getInt(null));
            }
        }
        return codes;
    }

    @Test
    void shouldHaveAllKindsOfSites() throws IllegalAccessException {
        assertThat(Stream.of(SiteKind.values()).map(kind -> (int) kind.code()))
                .containsExactlyInAnyOrderElementsOf(codes(SiteDescriptor.class));
        assertThat(SiteKind.values()).allMatch(kind -> SiteKind.of(kind.code()) == kind);
    }

    @Test
    void shouldHaveAllKindsOfArcs() throws IllegalAccessException {
        assertThat(Arrays.stream(Arc.Kind.values()).map(Arc.Kind::code))
                .containsExactlyInAnyOrderElementsOf(codes(ArcDescriptor.class));
        assertThat(Arc.Kind.values()).allMatch(kind -> Arc.Kind.of(kind.code()) == kind);
    }
}
