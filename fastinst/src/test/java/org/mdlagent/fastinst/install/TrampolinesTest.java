package org.mdlagent.fastinst.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeArena;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.TrapDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.fastinst.provider.ImageProbes;
import org.mdlagent.fastinst.provider.ProbeSite;

/// What stands where a text's sites lead to.
class TrampolinesTest {
    private static final NativeApi API = NativeApi.ofHarness(Path.of("../native-shim/target/cmake/libmdl_harness.so"));

    /// Far from everything, also from what other tests take, so that there is room for hops.
    private static final long TEXT = 0x2900_0000_0000L;

    private static final int TEXT_SIZE = 4096;

    /// `push %rbp; mov %rsp,%rbp; lea 1(%rdi),%eax; pop %rbp; ret`.
    private static final byte[] FUNCTION = HexFormat.of().parseHex("554889e58d47015dc3");

    private static final int SECOND_HEAD = 1;
    private static final int THIRD_HEAD = 4;

    private final CodeMemory code = new CodeMemory(API);
    private final CodeArena arena = new CodeArena(code, 1 << 24);
    private final InstructionSet instructions = InstructionSet.host();
    private final Trampolines trampolines = new Trampolines(
            API,
            instructions,
            code,
            arena,
            new CallPatch(API, code, arena, new Membarrier(API), instructions),
            API.recordingEntryPoints(true));

    @Test
    void shouldLeadTrappedThreadsToTheCopyOfTheTextThatIsThere() throws IOException {
        assertThat(code.allocateAt(TEXT, TEXT + TEXT_SIZE)).isTrue();
        Memory.put(code.alias(TEXT), FUNCTION);
        Trampolines.OfText first = trampolines.plan(text());
        assertLedToItsCopy(first);

        first.forget();
        Trampolines.OfText other = trampolines.plan(text());
        assertLedToItsCopy(other);

        other.forget();
        assertLedToItsCopy(first);
    }

    private ImageProbes.Text text() {
        EntryPun pun = (EntryPun)
                instructions.puns().fit(API::decode, FUNCTION, TEXT, FUNCTION.length, EntryPuns.Covered.TRAPS);
        return new ImageProbes.Text(
                TEXT,
                TEXT + TEXT_SIZE,
                List.of(new ProbeSite(pun.site(), FrameKey.UNKNOWN, new ProbeSite.Displaced(pun, List.of()))));
    }

    private static void assertLedToItsCopy(Trampolines.OfText text) {
        Trampolines.Site site = text.sites().getFirst();
        text.write(site, API.allocate(SiteDescriptor.SIZE));

        assertThat(Memory.copy(site.body(), 4)).startsWith(0x55, 0x48, 0x89, 0xe5);
        assertThat(actionAt(TEXT + SECOND_HEAD)).isEqualTo(new Redirect.Jump(site.body() + SECOND_HEAD).action());
        assertThat(actionAt(TEXT + THIRD_HEAD)).isEqualTo(new Redirect.Jump(site.body() + THIRD_HEAD).action());
    }

    private static long actionAt(long address) {
        return Memory.getLong(new TrapTable(API).row(address) + TrapDescriptor.ACTION);
    }
}
