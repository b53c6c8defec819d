package org.mdlagent.runtime.metric.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SocketPeersTest {
    private static final int CASES = Integer.getInteger("mdl.fuzz.cases", 5_000);

    private static final String TCP = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1
               1: 0100007F:1F90 0200000A:C350 01 00000000:00000000 00:00000000 00000000     0        0 101 1
               2: 0100007F:C351 0200000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 102 1
            """;

    private static final String TCP6 = """
              sl  local_address                         remote_address                        st tx_queue rx_queue
               0: 00000000000000000000000001000000:C352 0000000000000000FFFF00000100007F:0050 01 0:0 00:0 0 0 0 103 1
            """;

    private static final String UNIX = """
            Num       RefCount Protocol Flags    Type St Inode Path
            0000000000000000: 00000003 00000000 00000000 0001 03 104 /run/a b
            0000000000000000: 00000003 00000000 00000000 0001 03 105 @abstract
            0000000000000000: 00000003 00000000 00000000 0001 03 106
            """;

    @TempDir
    Path net;

    private SocketPeers read(String tcp, String tcp6, String unix) throws Exception {
        Files.writeString(net.resolve("tcp"), tcp, StandardCharsets.ISO_8859_1);
        Files.writeString(net.resolve("tcp6"), tcp6, StandardCharsets.ISO_8859_1);
        Files.writeString(net.resolve("unix"), unix, StandardCharsets.ISO_8859_1);
        return SocketPeers.read(net);
    }

    private static String address(SocketPeers peers, long inode) {
        return HexFormat.of().formatHex(Objects.requireNonNull(peers.of(inode)).address());
    }

    @Test
    void shouldKnowWhomSocketsAreConnectedTo() throws Exception {
        SocketPeers peers = read(TCP, TCP6, UNIX);

        assertThat(peers.of(100)).isNull();
        assertThat(address(peers, 101)).isEqualTo("0200c3500a0000020000000000000000");
        assertThat(Objects.requireNonNull(peers.of(101)).accepted()).isTrue();
        assertThat(address(peers, 102)).isEqualTo("020000500a0000020000000000000000");
        assertThat(Objects.requireNonNull(peers.of(102)).accepted()).isFalse();
        assertThat(address(peers, 103)).isEqualTo("0a0000500000000000000000000000000000ffff7f00000100000000");
        assertThat(address(peers, 104)).isEqualTo("01002f72756e2f612062");
        assertThat(address(peers, 105)).isEqualTo("0100006162737472616374");
        assertThat(peers.of(106)).isNull();
    }

    @Test
    void shouldLeaveOutWhatItCannotRead() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < CASES; i++) {
            String[] texts = {TCP, TCP6, UNIX};
            int which = random.nextInt(texts.length);
            StringBuilder damaged = new StringBuilder(texts[which]);
            for (int change = random.nextInt(8); change >= 0; change--) {
                int at = random.nextInt(damaged.length());
                damaged.setCharAt(at, (char) random.nextInt(256));
            }
            texts[which] = damaged.substring(random.nextInt(2) == 0 ? 0 : random.nextInt(damaged.length()));

            SocketPeers peers = read(texts[0], texts[1], texts[2]);

            for (long inode : List.of(0L, 101L, 102L, 103L, 104L, 105L)) {
                SocketPeers.Peer peer = peers.of(inode);
                assertThat(peer == null || peer.address().length >= 2).isTrue();
            }
        }
    }

    @Test
    void shouldDoWithoutAKernelThatTells() {
        assertThat(SocketPeers.read(net.resolve("none")).of(1)).isNull();
    }
}
