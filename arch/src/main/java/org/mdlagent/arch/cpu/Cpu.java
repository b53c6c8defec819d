package org.mdlagent.arch.cpu;

/// The processor that this process runs on.
public final class Cpu {
    private static final int INTEL_LINE = 64;
    private static final int QUADWORD = 8;

    private Cpu() {}

    /// Bytes within which a store is atomic for instruction fetch: a cache line on Intel, else the quadword that
    /// the AMD64 manual guarantees (volume 2, section 7.6.1).
    public static int atomicUnit() {
        return CpuIdentity.value(CpuIdentity.cpuinfo(), "vendor_id").equals("GenuineIntel") ? INTEL_LINE : QUADWORD;
    }
}
