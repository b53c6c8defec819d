package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.shim.LoadedImage;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;

/// Collects what compilers have left at the entries of an image's functions.
public final class EntrySites {
    /// Functions that must return directly to their caller's address, or that read it: functions that return
    /// twice, switch stacks, start threads, or ask for their caller; and code that runs before there is a
    /// caller.
    public static final Set<String> EXCLUDED = Set.of(
            "_start",
            "setjmp",
            "_setjmp",
            "__setjmp",
            "sigsetjmp",
            "__sigsetjmp",
            "savectx",
            "vfork",
            "__vfork",
            "getcontext",
            "setcontext",
            "swapcontext",
            "makecontext",
            "clone",
            "__clone",
            "clone3",
            "dlopen",
            "dlmopen",
            "dlsym",
            "dlvsym");

    private static final int LONGEST_EXCLUDED =
            EXCLUDED.stream().mapToInt(String::length).max().orElseThrow();

    private final LoadedImage image;
    private final ElfFile elf;
    private final InstructionSet instructions;
    private final SymbolTable symbols;
    private final List<Segment> segments;
    private final LongPredicate wanted;
    private final StackArguments.@Nullable Image arguments;
    private final List<ProbeSite> sites = new ArrayList<>();
    private int cramped;
    private boolean leftOut;

    /// @param wanted functions by link-time address; sites of other functions are left out
    /// @param arguments tells which functions can only have their calls counted; null if all sites only count
    EntrySites(
            LoadedImage image,
            ElfFile elf,
            InstructionSet instructions,
            LongPredicate wanted,
            StackArguments.@Nullable Image arguments)
            throws IOException {
        this.image = image;
        this.elf = elf;
        this.instructions = instructions;
        symbols = elf.symbols();
        segments = elf.executableSegments();
        this.wanted = wanted;
        this.arguments = arguments;
    }

    /// Adds the site at `at`, if it has one of the forms.
    ///
    /// @param room bytes before the function that are never executed
    void add(long at, SiteInstruction.Role role, long function, int room, Set<SiteInstruction.Form> forms)
            throws IOException {
        if (isProbed(function)) {
            addProbed(at, role, function, room, forms);
        }
    }

    /// Adds the site at a function's first instruction, without looking at it if the function is left out.
    ///
    /// @param room as in [#add]
    void addFirst(SiteInstruction.Role role, long function, int room, Set<SiteInstruction.Form> forms)
            throws IOException {
        if (isProbed(function)) {
            addProbed(instructions.search().firstInstruction(function), role, function, room, forms);
        }
    }

    /// Names are matched first, because that excludes most of a large program.
    private boolean isProbed(long function) {
        if (segmentOf(function) == null) {
            return false;
        }
        if (!wanted.test(function - image.bias())) {
            leftOut = leftOut || !isExcluded(function);
            return false;
        }
        return !isExcluded(function);
    }

    private void addProbed(
            long at, SiteInstruction.Role wantedRole, long function, int room, Set<SiteInstruction.Form> forms)
            throws IOException {
        boolean counts = wantedRole == SiteInstruction.Role.FUNCTION
                && arguments != null
                && arguments.reason(function - image.bias()) != null;
        SiteInstruction.Role role = counts ? SiteInstruction.Role.COUNT : wantedRole;
        Segment segment = segmentOf(at);
        if (segment == null) {
            return;
        }
        long end = image.bias() + segment.address() + segment.fileSize();
        SiteInstruction site = instructions.sites().entrySite(at, end, role, function, room);
        if (site != null && forms.contains(site.form())) {
            sites.add(new ProbeSite(site, FrameKey.UNKNOWN));
        } else {
            cramped++;
        }
    }

    /// Adds the entry of an unprepared function, one of [FunctionEntries].
    ///
    /// @param rules how callers are found from its instructions, by offset
    void addBare(EntryPun pun, List<FrameRule> rules) {
        sites.add(new ProbeSite(pun.site(), FrameKey.UNKNOWN, new ProbeSite.Displaced(pun, rules)));
    }

    /// Whether a function is wanted and not excluded.
    boolean wants(long function) {
        boolean wants = wanted.test(function - image.bias());
        leftOut |= !wants;
        return wants;
    }

    private @Nullable Segment segmentOf(long address) {
        for (int i = 0; i < segments.size(); i++) {
            if (segments.get(i).contains(address - image.bias())) {
                return segments.get(i);
            }
        }
        return null;
    }

    private boolean isExcluded(long function) {
        int symbol = symbols.at(function - image.bias());
        return symbol >= 0 && (symbols.resolver(symbol) || symbols.isNamed(symbol, EXCLUDED, LONGEST_EXCLUDED));
    }

    /// Number of places with none of the forms, or with too few bytes.
    int cramped() {
        return cramped;
    }

    /// By ascending address; of several sites at one address, the last.
    private List<ProbeSite> ordered() {
        sites.sort((a, b) -> Long.compare(a.hook().address(), b.hook().address()));
        List<ProbeSite> ordered = new ArrayList<>(sites.size());
        for (ProbeSite site : sites) {
            if (!ordered.isEmpty()
                    && ordered.getLast().hook().address() == site.hook().address()) {
                ordered.removeLast();
            }
            ordered.add(site);
        }
        return ordered;
    }

    /// Null when there are no sites, left-out ones included.
    @Nullable
    ImageProbes toProbes() {
        List<ImageProbes.Text> texts = new ArrayList<>();
        List<ProbeSite> ordered = ordered();
        for (Segment segment : segments) {
            long start = image.bias() + segment.address();
            long end = start + segment.memorySize();
            List<ProbeSite> own = new ArrayList<>();
            for (ProbeSite site : ordered) {
                if (site.hook().address() >= start && site.hook().address() < end) {
                    own.add(site);
                }
            }
            if (!own.isEmpty()) {
                texts.add(new ImageProbes.Text(start, end, own));
            }
        }
        return texts.isEmpty() && !leftOut ? null : new ImageProbes(image, elf, texts);
    }
}
