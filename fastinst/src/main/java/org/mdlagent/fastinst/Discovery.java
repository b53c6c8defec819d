package org.mdlagent.fastinst;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.LoadedImage;
import org.mdlagent.arch.NativeApi;
import org.mdlagent.arch.elf.ElfFile;

/// Finds the probe sites of images, with the provider that suits each best.
final class Discovery {
    private final NativeApi api;
    private final List<String> notes;
    private final List<ProbeProvider> providers;

    /// Those that have been opened and may have probes.
    private final Map<LoadedImage, ElfFile> files = new HashMap<>();

    /// Looks for hooks in the images that are loaded now: the dynamic linker chooses among these alone.
    ///
    /// @param notes receives what was found and left alone, for the log
    Discovery(NativeApi api, InstructionSet instructions, List<String> notes) {
        this.api = api;
        this.notes = notes;
        String functionHooks = null;
        String profilingHooks = null;
        boolean gprof = false;
        List<LoadedImage> candidates = candidates();
        for (LoadedImage image : candidates) {
            if (isCLibrary(image)) {
                break; // Images behind it cannot override its hooks.
            }
            try {
                ElfFile elf = open(image);
                gprof |= image.equals(candidates.getFirst()) && ProfilingCallsProvider.startsGprof(elf);
                if (functionHooks == null && InstrumentFunctionsProvider.exportsHooks(elf)) {
                    functionHooks = image.path();
                }
                if (profilingHooks == null && ProfilingCallsProvider.exportsHooks(elf)) {
                    profilingHooks = image.path();
                }
            } catch (IOException e) {
                // discover says so.
            }
        }
        providers = List.of(
                new InstrumentFunctionsProvider(instructions, api::decode, functionHooks),
                new XRayProvider(instructions),
                new PatchableEntryProvider(instructions),
                new ProfilingCallsProvider(instructions, api::decode, profilingHooks, gprof));
    }

    /// The probes of all images that are loaded now, of the executable first.
    List<ImageProbes> discover() {
        List<ImageProbes> found = new ArrayList<>();
        for (LoadedImage image : candidates()) {
            ImageProbes probes = discover(image);
            if (probes != null) {
                found.add(probes);
            }
        }
        return found;
    }

    /// The probes of one image, null when it has none.
    @Nullable
    ImageProbes discover(LoadedImage image) {
        try {
            ElfFile elf = open(image);
            for (ProbeProvider provider : providers) {
                ImageProbes probes = provider.discover(image, elf, notes);
                if (probes != null) {
                    return probes;
                }
            }
        } catch (IOException e) {
            notes.add(image.path() + ": left alone: " + e.getMessage());
        }
        close(image);
        return null;
    }

    private ElfFile open(LoadedImage image) throws IOException {
        ElfFile known = files.get(image);
        if (known != null) {
            return known;
        }
        ElfFile elf = ElfFile.open(Path.of(image.path()));
        files.put(image, elf);
        return elf;
    }

    private void close(LoadedImage image) {
        ElfFile elf = files.remove(image);
        if (elf != null) {
            try {
                elf.close();
            } catch (IOException e) {
                notes.add(image.path() + ": " + e.getMessage());
            }
        }
    }

    private List<LoadedImage> candidates() {
        List<LoadedImage> candidates = new ArrayList<>();
        for (LoadedImage image : api.images()) {
            if (image.path().startsWith("/") && !isAgents(Path.of(image.path()).normalize())) {
                candidates.add(image);
            }
        }
        return candidates;
    }

    private static boolean isCLibrary(LoadedImage image) {
        return Path.of(image.path()).getFileName().toString().startsWith("libc.so");
    }

    /// Whether an image is the shim, its decoder or part of the Java runtime beside it.
    private boolean isAgents(Path image) {
        Path library = Path.of(api.libraryDirectory());
        String name = image.getFileName().toString();
        return image.startsWith(library.resolveSibling("runtime"))
                || image.startsWith(library)
                        && (name.equals("libmdlagent.so")
                                || name.startsWith("libZydis.so")
                                || name.startsWith("libZycore.so"));
    }
}
