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

/// Which functions are proved not to need their arguments on the stack where the caller has put them: words of a probe
/// between return address and frame do no harm below these.
///
/// A function is proved if its own code touches nothing above its frame, and each function that it leaves to by a
/// sibling call is proved, too: that one finds the stack as this one found it. Functions that leave to each other in a
/// circle are proved together. A function that leaves for others needs no more proof if it has no argument on the
/// stack that it could pass on: names of C++ say so ([NamedParameters]), and prototypes of the C library
/// ([Prototypes]).
///
///     try (StackArguments proof = new StackArguments(search, decoder, others)) {
///         StackArguments.Image image = proof.add(elf);
///         Reason reason = image.reason(start);               // null: proved
///     }
///
/// Functions are looked at when they are asked for, with those that they lead to; answers are remembered. One thread
/// uses it. Files must stay open.
public final class StackArguments implements AutoCloseable {
    /// The files of all images that functions may leave to, opened when the first does.
    public interface Others {
        /// @param known that are open already, and are left out
        /// @return null when one cannot be opened: then what functions leave to elsewhere is not known
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

    /// @param demangler of names of C++
    public StackArguments(CodeSearch search, LengthDecoder decoder, UnaryOperator<String> demangler, Others others) {
        this.search = search;
        this.decoder = decoder;
        this.demangler = demangler;
        this.others = others;
    }

    /// Closes what [Others] has opened. It is opened again when it is needed again; answers are known still.
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
        Image image = new Image(elf);
        images.add(image);
        return image;
    }

    /// The functions of one image.
    public final class Image {
        private final ElfFile elf;
        private @Nullable StackUses uses;

        private Image(ElfFile elf) {
            this.elf = elf;
        }

        private StackUses uses() throws IOException {
            StackUses made = uses;
            if (made == null) {
                made = new StackUses(elf, search, decoder, demangler);
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

        /// The same by the function's own code alone: for tests.
        @Nullable
        Reason ownReason(long start) throws IOException {
            int range = uses().range(start);
            return range < 0 ? Reason.UNWIND_TABLE : uses().reason(range);
        }
    }

    /// A range of an image's unwind tables.
    private record Piece(StackUses image, int range) {}

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

    /// Refutes a piece, and all that have led to it.
    private static void refute(Piece piece, Reason reason, Map<Piece, Piece> reached) {
        piece.image.refute(piece.range, reason);
        Piece at = piece;
        for (Piece before = reached.get(at); before != null && !before.equals(at); before = reached.get(at)) {
            before.image.refute(before.range, before.image == piece.image ? Reason.SIBLING : Reason.ELSEWHERE);
            at = before;
        }
    }

    /// Adds what a piece leads to.
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
