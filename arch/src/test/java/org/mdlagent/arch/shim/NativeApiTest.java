package org.mdlagent.arch.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.layout.LayoutDump;

/// Java's view of the shim's table against `mdl/api.h`, as the C compiler understands it.
class NativeApiTest {
    private static final String IMAGE_PREFIX = "IMAGE_";

    private static LayoutDump dump;

    @BeforeAll
    static void readDump() throws Exception {
        dump = LayoutDump.read();
    }

    @Test
    void shouldHaveEveryEntryOfTheTableAndNoOther() throws Exception {
        Map<String, Long> constants = LayoutDump.constantsOf(NativeApi.class);
        constants.keySet().removeIf(name -> name.startsWith(IMAGE_PREFIX));
        Map<String, Long> expected = dump.constants("mdl_api", Set.of("size"));
        // What tells versions apart stands first, in all of them.
        assertThat(expected.remove("SIZE_AT")).isZero();

        assertThat(constants).containsExactlyInAnyOrderEntriesOf(expected);
    }

    @Test
    void shouldHaveEveryFieldOfAnImageAndNoOther() throws Exception {
        Map<String, Long> constants = LayoutDump.constantsOf(NativeApi.class);
        constants.keySet().removeIf(name -> !name.startsWith(IMAGE_PREFIX));
        Map<String, Long> expected = new TreeMap<>();
        dump.constants("mdl_image", Set.of()).forEach((name, value) -> expected.put(IMAGE_PREFIX + name, value));

        assertThat(constants).containsExactlyInAnyOrderEntriesOf(expected);
    }

    @Test
    void shouldHaveEveryFieldOfAPlaceAndNoOther() throws Exception {
        Map<String, Long> expected = new TreeMap<>();
        dump.constants("mdl_pc_place", Set.of()).forEach((name, value) -> expected.put("PLACE_" + name, value));

        assertThat(LayoutDump.constantsOf(PcSampler.class)).containsExactlyInAnyOrderEntriesOf(expected);
    }
}
