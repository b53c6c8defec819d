package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
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
    /// Functions that must return to the very address that they were called from, or look at it: those that return
    /// twice, change stacks, start threads, or ask who called them; and what runs before there is a caller.
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

    /// @param wanted functions by addresses of link time; the sites of others are left out
    /// @param arguments tells where the calls of a function are counted only; null where no site is for more
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
    /// @param room bytes in front of the function that nobody executes
    void add(long at, SiteInstruction.Role role, long function, int room, Set<SiteInstruction.Form> forms)
            throws IOException {
        if (isProbed(function)) {
            addProbed(at, role, function, room, forms);
        }
    }

    /// Adds the site at the first instruction of a function: that of a function that is left out is not looked at.
    ///
    /// @param room as in [#add]
    void addFirst(SiteInstruction.Role role, long function, int room, Set<SiteInstruction.Form> forms)
            throws IOException {
        if (isProbed(function)) {
            addProbed(instructions.search().firstInstruction(function), role, function, room, forms);
        }
    }

    /// Names are compared with patterns at first, which leave most of a large program out.
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

    /// Adds the entry of a function that no compiler has prepared; it is one of [FunctionEntries].
    ///
    /// @param rules how callers are found from its instructions, by offset
    void addBare(EntryPun pun, List<FrameRule> rules) {
        sites.add(new ProbeSite(pun.site(), FrameKey.UNKNOWN, new ProbeSite.Displaced(pun, rules)));
    }

    /// Whether a function is not left out.
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

    /// How many places had none of the forms, or too few bytes.
    int cramped() {
        return cramped;
    }

    /// By ascending address; of several at one address the last.
    private List<ProbeSite> ordered() {
        sites.sort(Comparator.comparingLong(site -> site.hook().address()));
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

    /// Null when there are no sites, not even such as are left out.
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
