package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.site.SiteInstruction;

/// Code compiled by Clang with `-fxray-instrument` ("XRay Instrumentation", LLVM documentation): sleds at
/// entries, exits and sibling calls, listed in `xray_instr_map`.
///
/// Only the entry's sled is used: its trampoline sees every return. Sleds of custom and typed events are left
/// alone, and so is a sled that XRay's own runtime has patched.
public final class XRayProvider implements ProbeProvider {
    static final String SECTION = "xray_instr_map";

    /// An entry of the map, `XRaySledEntry` of compiler-rt's `xray_interface_internal.h`: addresses of sled
    /// and function, then a byte each for kind, always-instrument flag, and version.
    private static final int ENTRY_SIZE = 32;

    private static final int FUNCTION = 8;
    private static final int KIND = 16;
    private static final int VERSION = 18;

    private static final int KIND_ENTRY = 0;
    private static final int KIND_ENTRY_WITH_ARGUMENTS = 3;

    /// From this version on, addresses are relative to their own position.
    private static final int RELATIVE = 2;

    private static final Set<SiteInstruction.Form> PRISTINE = Set.of(SiteInstruction.Form.SKIP);

    private final InstructionSet instructions;
    private final FunctionSelection selection;

    public XRayProvider(InstructionSet instructions, FunctionSelection selection) {
        this.instructions = instructions;
        this.selection = selection;
    }

    @Override
    public @Nullable ImageProbes discover(
            LoadedImage image, ElfFile elf, StackArguments.Image arguments, List<String> notes) throws IOException {
        LoadedSection map = LoadedSection.of(SECTION, image, elf);
        if (map == null) {
            return null;
        }
        EntrySites sites = new EntrySites(image, elf, instructions, selection.of(image, elf), arguments);
        ByteBuffer bytes = map.bytes();
        for (int at = 0; at + ENTRY_SIZE <= bytes.limit(); at += ENTRY_SIZE) {
            byte kind = bytes.get(at + KIND);
            if (kind == KIND_ENTRY || kind == KIND_ENTRY_WITH_ARGUMENTS) {
                long origin = bytes.get(at + VERSION) >= RELATIVE ? map.address() + at : 0;
                long sled = bytes.getLong(at) + origin;
                long function = bytes.getLong(at + FUNCTION) + (origin == 0 ? 0 : origin + FUNCTION);
                sites.add(sled, SiteInstruction.Role.FUNCTION, function, 0, PRISTINE);
            }
        }
        if (sites.cramped() > 0) {
            notes.add(image.path() + ": " + sites.cramped() + " XRay sleds left alone: XRay has patched them");
        }
        return sites.toProbes();
    }
}
