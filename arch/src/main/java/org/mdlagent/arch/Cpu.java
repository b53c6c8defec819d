package org.mdlagent.arch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// The processor that this process runs on.
public final class Cpu {
    private static final int INTEL_LINE = 64;
    private static final int QUADWORD = 8;
    private static final int FIRST_PROCESSOR_BYTES = 4096;

    private Cpu() {}

    /// Bytes within which a store is atomic for instruction fetch: a cache line on Intel, else the quadword that
    /// the AMD64 manual guarantees (volume 2, section 7.6.1).
    public static int atomicUnit() {
        return vendor().equals("GenuineIntel") ? INTEL_LINE : QUADWORD;
    }

    /// The vendor identification of CPUID leaf 0, or "" when the kernel does not tell.
    public static String vendor() {
        // Reading on would make the kernel ask every processor for its frequency.
        try (InputStream in = Files.newInputStream(Path.of("/proc/cpuinfo"))) {
            String text = new String(in.readNBytes(FIRST_PROCESSOR_BYTES), StandardCharsets.US_ASCII);
            int key = text.indexOf("vendor_id");
            int colon = text.indexOf(':', Math.max(0, key));
            int end = text.indexOf('\n', Math.max(0, colon));
            return key < 0 || colon < 0 || end < 0
                    ? ""
                    : text.substring(colon + 1, end).strip();
        } catch (IOException e) {
            return "";
        }
    }
}
