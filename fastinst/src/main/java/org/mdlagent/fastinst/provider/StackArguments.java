package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.StackUse.Reason;

/// Proves which functions do not need their arguments on the stack at a fixed distance from their frame, so
/// that a probe may push words between return address and frame.
///
/// A function is proved if its own code touches nothing above its frame, and each function that it leaves to
/// by a sibling call is proved as well: that function finds the stack as this one found it. Functions that
/// leave to each other in a cycle are proved together. A function without arguments on the stack cannot pass
/// any on, so the functions that it leaves to need no proof: C++ names ([NamedParameters]) and prototypes of
/// the C library ([Prototypes]) tell that.
///
///     try (StackArguments proof = new StackArguments(search, decoder, others)) {
///         StackArguments.Image image = proof.add(elf);
///         Reason reason = image.reason(start);               // null: proved
///     }
///
/// Functions are examined on demand, with the functions that they lead to; results are cached. One thread
/// uses it. Files must stay open.
public final class StackArguments implements AutoCloseable {
    /// The files of all images that functions may leave to, opened on first use.
    public interface Others {
        /// @param known open files, which are left out
        /// @return null when a file cannot be opened: then functions that leave to other images cannot be
        ///     proved
        @Nullable
        List<ElfFile> open(List<ElfFile> known) throws IOException;
    }

    private final CodeSearch search;
    private final LengthDecoder decoder;
    private final UnaryOperator<String> demangler;
    private final List<Image> images = new ArrayList<>();
    private final List<ElfFile> opened = new ArrayList<>();
    private final Others others;
    private boolean asked;
    private boolean complete;

    /// @param demangler of C++ names
    public StackArguments(CodeSearch search, LengthDecoder decoder, UnaryOperator<String> demangler, Others others) {
        this.search = search;
        this.decoder = decoder;
        this.demangler = demangler;
        this.others = others;
    }

    /// Closes the files that [Others] opened. They are opened again when needed; results stay cached.
    @Override
    public void close() throws IOException {
        images.removeIf(image -> opened.contains(image.elf));
        for (ElfFile elf : opened) {
            elf.close();
        }
        opened.clear();
        asked = false;
        complete = false;
    }

    private boolean openOthers() throws IOException {
        if (!asked) {
            asked = true;
            List<ElfFile> found =
                    others.open(images.stream().map(image -> image.elf).toList());
            if (found != null) {
                complete = true;
                opened.addAll(found);
                for (ElfFile elf : found) {
                    Image unused = add(elf);
                }
            }
        }
        return complete;
    }

    /// Adds an image.
    public Image add(ElfFile elf) {
        return add(elf, (KeptFacts) null);
    }

    /// Adds an image.
    ///
    /// @param kept keeps what is found in its code; null: nothing
    public Image add(ElfFile elf, @Nullable KeptFacts kept) {
        return add(elf, kept == null ? null : kept.source);
    }

    /// Adds an image.
    ///
    /// @param kept keeps what is found in its code; null: nothing
    Image add(ElfFile elf, ImageFacts.@Nullable Source kept) {
        Image image = new Image(elf, kept);
        images.add(image);
        return image;
    }

    /// The functions of one image.
    public final class Image {
        private final ElfFile elf;
        private final ImageFacts.@Nullable Source kept;
        private @Nullable StackUses uses;

        private Image(ElfFile elf, ImageFacts.@Nullable Source kept) {
            this.elf = elf;
            this.kept = kept;
        }

        private StackUses uses() throws IOException {
            StackUses made = uses;
            if (made == null) {
                made = new StackUses(elf, search, decoder, demangler, kept);
                uses = made;
            }
            return made;
        }

        /// Why a function is not proved; null when it is.
        ///
        /// @param start its address at link time
        public @Nullable Reason reason(long start) throws IOException {
            if (hasPrototype(start)) {
                return null;
            }
            StackUses own = uses();
            int range = own.range(start);
            if (range < 0) {
                return Reason.UNWIND_TABLE;
            } else if (own.isProved(range)) {
                return null;
            }
            Reason reason = own.reason(range);
            if (reason == null && own.leadsNowhere(range)) {
                own.prove(range);
                return null;
            }
            return reason == null || reason == Reason.INDIRECT ? prove(new Piece(own, range)) : reason;
        }

        private boolean hasPrototype(long start) throws IOException {
            if (!CLibrary.is(elf.name())) {
                return false;
            }
            SymbolTable symbols = elf.exportedSymbols();
            int symbol = symbols.at(start);
            return symbol >= 0 && symbols.names(symbol).stream().anyMatch(Prototypes::inRegisters);
        }

        /// What was found out about the file; null if nothing is kept.
        @Nullable
        ImageFacts facts() throws IOException {
            return uses().facts();
        }

        /// [#reason] for the function's own code only: for tests.
        @Nullable
        Reason ownReason(long start) throws IOException {
            int range = uses().range(start);
            return range < 0 ? Reason.UNWIND_TABLE : uses().reason(range);
        }
    }

    /// A range of an image's unwind tables.
    private record Piece(StackUses image, int range) {
        // Written out: the compiler's links method handles, which costs milliseconds at each start.
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Piece piece && image == piece.image && range == piece.range;
        }

        @Override
        public int hashCode() {
            return 31 * image.hashCode() + range;
        }
    }

    private @Nullable Reason prove(Piece root) throws IOException {
        Map<Piece, Piece> reached = new HashMap<>(Map.of(root, root)); // from which piece
        Deque<Piece> next = new ArrayDeque<>(List.of(root));
        while (!next.isEmpty()) {
            Piece piece = next.remove();
            if (piece.image.isProved(piece.range)) {
                continue;
            }
            Reason reason = piece.image.reason(piece.range);
            boolean mayForward = reason == null || reason == Reason.INDIRECT;
            if (mayForward && piece.image.hasParametersInRegisters(piece.range)) {
                continue;
            }
            if (reason == null) {
                reason = follow(piece, reached, next);
            }
            if (reason != null) {
                refute(piece, reason, reached);
                return root.image.reason(root.range);
            }
        }
        for (Piece piece : reached.keySet()) {
            piece.image.prove(piece.range);
        }
        return null;
    }

    /// Refutes a piece, and all pieces that have led to it.
    private static void refute(Piece piece, Reason reason, Map<Piece, Piece> reached) {
        piece.image.refute(piece.range, reason);
        Piece at = piece;
        for (Piece before = reached.get(at); before != null && !before.equals(at); before = reached.get(at)) {
            before.image.refute(before.range, before.image == piece.image ? Reason.SIBLING : Reason.ELSEWHERE);
            at = before;
        }
    }

    /// Adds the pieces that a piece leads to.
    private @Nullable Reason follow(Piece piece, Map<Piece, Piece> reached, Deque<Piece> next) throws IOException {
        for (int range : piece.image.siblings(piece.range)) {
            add(new Piece(piece.image, range), piece, reached, next);
        }
        for (String name : piece.image.imports(piece.range)) {
            if (!openOthers()) {
                return Reason.ELSEWHERE;
            }
            boolean found = false;
            for (Image image : images) {
                if (CLibrary.is(image.elf.name()) && Prototypes.inRegisters(name)) {
                    found = true;
                    continue;
                }
                long[] functions = image.uses().named(name);
                found |= functions.length > 0;
                for (long function : functions) {
                    int range = image.uses().range(function);
                    if (range < 0) {
                        return Reason.ELSEWHERE;
                    }
                    add(new Piece(image.uses(), range), piece, reached, next);
                }
            }
            if (!found) {
                return Reason.ELSEWHERE;
            }
        }
        return null;
    }

    private static void add(Piece piece, Piece from, Map<Piece, Piece> reached, Deque<Piece> next) {
        if (reached.putIfAbsent(piece, from) == null) {
            next.add(piece);
        }
    }
}
