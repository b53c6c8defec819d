package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.MemoryMap;
import org.mdlagent.arch.shim.NativeApi;

/// Finds the probe sites of images, with the best provider for each.
public final class Discovery {
    private static final long PAGE = 4096;

    /// The shim sets this property where its build tells which code finds the facts.
    private static final boolean FACTS_ARE_KEPT = Boolean.getBoolean("mdl.facts");

    private final NativeApi api;
    private final InstructionSet instructions;
    private final List<String> notes;
    private final List<ProbeProvider> providers;

    private final BareEntryProvider bare;
    private final @Nullable KeptFacts kept;

    /// Images with requested functions.
    private final Map<LoadedImage, OpenFile> demanded = new HashMap<>();

    /// Whether the program profiles itself with gprof.
    private final boolean gprof;

    /// Images that compilers have prepared.
    private final Set<LoadedImage> prepared = new HashSet<>();

    /// Opened images that have not been examined yet.
    private final Map<LoadedImage, ElfFile> files = new HashMap<>();

    /// Images loaded at program start, among which the dynamic linker looks for hooks.
    private final Set<LoadedImage> first;

    /// Looks for hooks in the images that are loaded now: the dynamic linker chooses only among these.
    ///
    /// @param images of the dynamic linker's list, in its order
    /// @param selection which functions get probes
    /// @param notes  receives what was found but left alone, for the log
    public Discovery(
            NativeApi api,
            InstructionSet instructions,
            List<LoadedImage> images,
            FunctionSelection selection,
            List<String> notes) {
        this.api = api;
        this.instructions = instructions;
        this.notes = notes;
        kept = FACTS_ARE_KEPT ? new KeptFacts(api) : null;
        first = Set.copyOf(images);
        String functionHooks = null;
        String profilingHooks = null;
        boolean startsGprof = false;
        for (LoadedImage image : images) {
            if (isCLibrary(image)) {
                break; // Images after it cannot override its hooks.
            }
            try {
                ElfFile elf = open(image);
                startsGprof |= image.equals(images.getFirst()) && ProfilingCallsProvider.startsGprof(elf);
                if (functionHooks == null && InstrumentFunctionsProvider.exportsHooks(elf)) {
                    functionHooks = image.path();
                }
                if (profilingHooks == null && ProfilingCallsProvider.exportsHooks(elf)) {
                    profilingHooks = image.path();
                }
            } catch (IOException e) {
                // reported by discover
            }
        }
        gprof = startsGprof;
        List<ProbeProvider> all = new ArrayList<>(List.of(
                new InstrumentFunctionsProvider(instructions, api::decode, functionHooks),
                new XRayProvider(instructions, selection),
                new PatchableEntryProvider(instructions, selection),
                new ProfilingCallsProvider(instructions, api::decode, profilingHooks, gprof)));
        bare = new BareEntryProvider(api, instructions, images.getFirst(), selection);
        all.add(new GoProvider(api, instructions, images.getFirst(), selection));
        if (!gprof) { // gprof reads return addresses, which stubs replace.
            all.add(bare);
        }
        providers = List.copyOf(all);
    }

    /// The probes of an image, with its file, which the caller must close; null when it has none.
    @Nullable
    public ImageProbes discover(LoadedImage image) {
        try {
            ElfFile elf = open(image);
            if (!first.contains(image) && bringsHooks(elf)) {
                notes.add(image.path() + ": left alone, it may have been opened so that it calls hooks of its own");
                close(image);
                return null;
            }
            ImageProbes probes = discover(image, elf);
            if (probes != null) {
                files.remove(image);
                return probes;
            }
        } catch (IOException e) {
            notes.add(image.path() + ": left alone: " + e.getMessage());
            Memory.addLong(api.session() + HeaderDescriptor.IMAGES_REFUSED, 1);
        }
        close(image);
        return null;
    }

    /// Writes what was found out about files, for the next start.
    public void keepFacts() {
        if (kept != null) {
            long unused = kept.write(); // without them, the next start takes longer
        }
    }

    private @Nullable ImageProbes discover(LoadedImage image, ElfFile elf) throws IOException {
        try (StackArguments proof = LoadedArguments.proof(api, instructions.search())) {
            StackArguments.Image arguments = proof.add(elf, kept);
            for (ProbeProvider provider : providers) {
                ImageProbes probes = provider.discover(image, elf, arguments, notes);
                if (probes != null && !(provider instanceof BareEntryProvider) && !(provider instanceof GoProvider)) {
                    prepared.add(image);
                }
                if (probes != null) {
                    // Without texts, no other provider may examine what this one would have probed.
                    return probes.texts().isEmpty() ? null : probes;
                }
            }
            return null;
        }
    }

    /// The probes of requested functions in an image that was examined before. Without texts when there are
    /// none. The file stays open.
    ///
    /// @param wanted  names its functions
    /// @param reasons receives why functions are left alone
    /// @throws IOException when the image can have no probes, with the reason
    public ImageProbes discover(LoadedImage image, FunctionSelection wanted, List<String> reasons) throws IOException {
        if (gprof) {
            throw new IOException("the program measures itself with gprof, which looks at return addresses");
        } else if (prepared.contains(image)) {
            throw new IOException(
                    "it was compiled with probes: name the function by --include when the program starts");
        }
        OpenFile file = demanded.get(image);
        if (file == null) {
            file = openFile(image);
            demanded.put(image, file);
        }
        ImageProbes probes;
        try {
            probes = bare.discover(image, file.elf, file.functions, wanted, reasons);
        } finally {
            file.proof.close(); // other images may be gone at the next request
        }
        return probes == null ? new ImageProbes(image, file.elf, List.of()) : probes;
    }

    private OpenFile openFile(LoadedImage image) throws IOException {
        ElfFile elf = LoadedFile.open(image);
        try {
            if (elf.isGo()) {
                throw new IOException("in Go, functions get probes only when the program starts");
            }
            String reason = elf.ehFrame() == null
                    ? "no unwind table lists its functions"
                    : BareEntryProvider.leftAlone(image.path());
            if (reason != null) {
                throw new IOException("left alone: " + reason);
            }
            StackArguments proof = LoadedArguments.proof(api, instructions.search());
            FunctionEntries functions = FunctionEntries.of(elf, instructions.search(), proof.add(elf));
            KeyedRuntime runtime = functions.runtime();
            if (runtime != null && runtime.leftAlone()) {
                throw new IOException("left alone: " + runtime.reason());
            }
            return new OpenFile(elf, functions, proof);
        } catch (IOException e) {
            elf.close();
            throw e;
        }
    }

    /// Data kept for images with requested functions, as long as they are loaded.
    private record OpenFile(ElfFile elf, FunctionEntries functions, StackArguments proof) {}

    /// Drops data of images that are gone.
    public void forget(Set<LoadedImage> gone) {
        for (LoadedImage image : gone) {
            OpenFile file = demanded.remove(image);
            if (file != null) {
                close(file.elf, image);
            }
        }
    }

    /// Whether an image has been relocated: the dynamic linker lists it first, then relocates it and makes
    /// data read-only.
    public boolean isRelocated(LoadedImage image, MemoryMap memory) {
        try {
            for (Segment segment : open(image).segments()) {
                long end = segment.address() + segment.memorySize();
                if (segment.readOnlyAfterRelocation() && (segment.address() & -PAGE) < (end & -PAGE)) {
                    MemoryMap.Region region = memory.at(image.bias() + segment.address());
                    return region == null || !region.writable();
                }
            }
        } catch (IOException e) {
            // reported by discover
        }
        return true;
    }

    /// With `RTLD_DEEPBIND`, or linked with `-Bsymbolic`, an image prefers its own hooks.
    private static boolean bringsHooks(ElfFile elf) throws IOException {
        return InstrumentFunctionsProvider.exportsHooks(elf) || ProfilingCallsProvider.exportsHooks(elf);
    }

    private ElfFile open(LoadedImage image) throws IOException {
        ElfFile known = files.get(image);
        if (known != null) {
            return known;
        }
        ElfFile elf = LoadedFile.open(image);
        files.put(image, elf);
        return elf;
    }

    private void close(LoadedImage image) {
        ElfFile elf = files.remove(image);
        if (elf != null) {
            close(elf, image);
        }
    }

    private void close(ElfFile elf, LoadedImage image) {
        try {
            elf.close();
        } catch (IOException e) {
            notes.add(image.path() + ": " + e.getMessage());
        }
    }

    private static boolean isCLibrary(LoadedImage image) {
        return Path.of(image.path()).getFileName().toString().startsWith("libc.so");
    }
}
