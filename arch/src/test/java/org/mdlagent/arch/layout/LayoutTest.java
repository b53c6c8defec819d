package org.mdlagent.arch.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/// What session files of all versions have in common, so that each version can tell which another is.
class LayoutTest {
    @Test
    void shouldStartFilesWithTheirTypeAndVersion() {
        byte[] magic = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(HeaderDescriptor.MAGIC)
                .array();

        assertThat(new String(magic, StandardCharsets.US_ASCII)).isEqualTo("MDLSESS1");
        assertThat(HeaderDescriptor.MAGIC_AT).isZero();
        assertThat(HeaderDescriptor.VERSION_AT).isEqualTo(Long.BYTES);
    }
}
