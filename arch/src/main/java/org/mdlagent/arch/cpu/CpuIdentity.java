package org.mdlagent.arch.cpu;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.NativeApi;

/// The properties of a processor on which the timing of its caches and instruction fetch may depend: the scope of
/// a calibration.
///
/// Inside and outside a target process it comes from the same two sources: `/proc/cpuinfo`, the only source of the
/// microcode revision, and CPUID, the only source of the hypervisor. Texts are printable ASCII.
///
/// @param vendor       of CPUID leaf 0; "" if unknown
/// @param microcode    revision as the kernel prints it, "" when it does not
/// @param hypervisor   of CPUID leaf 40000000h, "" on bare metal
/// @param tscInvariant whether the time-stamp counter counts time, whatever the processor does
/// @param tscHz        frequency of the time-stamp counter, measured
public record CpuIdentity(
        String vendor,
        int family,
        int model,
        int stepping,
        String modelName,
        String microcode,
        String hypervisor,
        boolean tscInvariant,
        long tscHz) {
    private static final int FIRST_PROCESSOR_BYTES = 4096;
    private static final int HYPERVISOR_LEAF = 0x4000_0000;

    /// Tolerance between two measurements of one frequency.
    private static final double SAME_FREQUENCY = 0.01;

    public CpuIdentity {
        vendor = printable(vendor);
        modelName = printable(modelName);
        microcode = printable(microcode);
        hypervisor = printable(hypervisor);
    }

    /// The processor of this process, with the shim.
    ///
    /// @param tscHz as the session's clocks show it
    public static CpuIdentity ofProcess(NativeApi api, double tscHz) {
        String cpuinfo = cpuinfo();
        int[] registers = hasFlag(cpuinfo, "hypervisor") ? api.cpuid(HYPERVISOR_LEAF, 0) : new int[0];
        return of(cpuinfo, hypervisor(registers), Math.round(tscHz));
    }

    /// The processor of this process, without the shim.
    ///
    /// @param trial the program `mdl-calibrate-trial`, which can execute CPUID
    public static CpuIdentity ofProgram(Path trial) throws IOException {
        Process process = new ProcessBuilder(trial.toString(), "machine").start();
        String answer;
        try (InputStream in = process.getInputStream()) {
            answer = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        }
        try {
            return of(cpuinfo(), value(answer, "hypervisor"), Long.parseLong(value(answer, "tsc_hz")));
        } catch (NumberFormatException e) {
            throw new IOException(trial + " does not report processor and clock", e);
        }
    }

    static CpuIdentity of(String cpuinfo, String hypervisor, long tscHz) {
        return new CpuIdentity(
                value(cpuinfo, "vendor_id"),
                number(value(cpuinfo, "cpu family")),
                number(value(cpuinfo, "model")),
                number(value(cpuinfo, "stepping")),
                value(cpuinfo, "model name"),
                value(cpuinfo, "microcode"),
                hypervisor,
                hasFlag(cpuinfo, "constant_tsc") && hasFlag(cpuinfo, "nonstop_tsc"),
                tscHz);
    }

    /// How `there` differs from this processor, such as "microcode (0x2 instead of 0x1)", or null. The model name
    /// is informative only: it may differ.
    public @Nullable String differenceTo(CpuIdentity there) {
        if (!vendor.equals(there.vendor)) {
            return difference("vendor", there.vendor, vendor);
        }
        if (family != there.family) {
            return difference("family", there.family, family);
        }
        if (model != there.model) {
            return difference("model", there.model, model);
        }
        if (stepping != there.stepping) {
            return difference("stepping", there.stepping, stepping);
        }
        if (!microcode.equals(there.microcode)) {
            return difference("microcode", there.microcode, microcode);
        }
        if (!hypervisor.equals(there.hypervisor)) {
            return difference("hypervisor", there.hypervisor, hypervisor);
        }
        if (Math.abs(tscHz - there.tscHz) > SAME_FREQUENCY * tscHz) {
            return difference("frequency of the time-stamp counter", there.tscHz, tscHz);
        }
        return null;
    }

    private static String difference(String what, Object there, Object here) {
        return what + " (" + orNone(there) + " instead of " + orNone(here) + ")";
    }

    private static Object orNone(Object value) {
        return value.equals("") ? "none" : value;
    }

    /// A field of the first processor in /proc/cpuinfo, "" if absent. Read once, because every start needs the
    /// atomic unit.
    static String cpuinfo() {
        return FirstProcessor.CPUINFO;
    }

    private static final class FirstProcessor {
        static final String CPUINFO = read();
    }

    private static String read() {
        // Reading on would make the kernel query every processor's frequency.
        try (InputStream in = Files.newInputStream(Path.of("/proc/cpuinfo"))) {
            String text = new String(in.readNBytes(FIRST_PROCESSOR_BYTES), StandardCharsets.US_ASCII);
            int end = text.indexOf("\n\n");
            return end < 0 ? text : text.substring(0, end + 1);
        } catch (IOException e) {
            return "";
        }
    }

    /// Twelve characters in ebx, ecx, edx, padded with NUL.
    static String hypervisor(int[] registers) {
        StringBuilder text = new StringBuilder();
        for (int i = 1; i < registers.length; i++) {
            for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
                char c = (char) (registers[i] >>> shift & 0xff);
                if (c != 0) {
                    text.append(c);
                }
            }
        }
        return text.toString();
    }

    static String value(String cpuinfo, String key) {
        for (int at = 0; at < cpuinfo.length(); ) {
            int newline = cpuinfo.indexOf('\n', at);
            int end = newline < 0 ? cpuinfo.length() : newline;
            int colon = cpuinfo.indexOf(':', at);
            if (colon >= 0
                    && colon < end
                    && cpuinfo.substring(at, colon).strip().equals(key)) {
                return cpuinfo.substring(colon + 1, end).strip();
            }
            at = end + 1;
        }
        return "";
    }

    private static boolean hasFlag(String cpuinfo, String flag) {
        return (" " + value(cpuinfo, "flags") + " ").contains(" " + flag + " ");
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    private static String printable(String text) {
        StringBuilder result = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            result.append(c >= ' ' && c <= '~' && c != '\\' ? c : '?');
        }
        return result.toString().strip();
    }
}
