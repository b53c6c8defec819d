package org.mdlagent.fastinst.provider;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.site.CodeSearch;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.StackUse.Reason;

/// Which functions are proved not to need their arguments on the stack where the caller has put them: words of a probe
/// between return address and frame do no harm below these.
///
/// A function is proved if its own code touches nothing above its frame, and each function that it leaves to by a
/// sibling call is proved, too: that one finds the stack as this one found it. Functions that leave to each other in a
/// circle are proved together.
///
///     StackArguments proof = new StackArguments(search, decoder);
///     StackArguments.Image image = proof.add(elf);       // all images whose functions others may leave to
///     Reason reason = image.reason(start);               // null: proved
///
/// Functions are looked at when they are asked for, with those that they lead to; answers are remembered. One thread
/// uses it. Files must stay open.
public final class StackArguments {
    private final CodeSearch search;
    private final LengthDecoder decoder;
    private final List<Image> images = new ArrayList<>();

    public StackArguments(CodeSearch search, LengthDecoder decoder) {
        this.search = search;
        this.decoder = decoder;
    }

    /// Adds an image. What was not proved before for want of it, is not asked again.
    public Image add(ElfFile elf) throws IOException {
        Image image = new Image(elf);
        images.add(image);
        return image;
    }

    /// The functions of one image.
    public final class Image {
        private final StackUses uses;

        private Image(ElfFile elf) throws IOException {
            uses = new StackUses(elf, search, decoder);
        }

        /// Why a function is not proved; null when it is.
        ///
        /// @param start its address at link time
        public @Nullable Reason reason(long start) throws IOException {
            int range = uses.range(start);
            if (range < 0) {
                return Reason.UNWIND_TABLE;
            } else if (uses.isProved(range)) {
                return null;
            }
            Reason own = uses.reason(range);
            if (own == null && uses.leadsNowhere(range)) {
                uses.prove(range);
                return null;
            }
            return own == null ? prove(new Piece(uses, range)) : own;
        }

        /// The same by the function's own code alone: for tests.
        @Nullable
        Reason ownReason(long start) throws IOException {
            int range = uses.range(start);
            return range < 0 ? Reason.UNWIND_TABLE : uses.reason(range);
        }
    }

    /// A range of an image's unwind tables.
    private record Piece(StackUses image, int range) {}

    private @Nullable Reason prove(Piece root) throws IOException {
        Set<Piece> reached = new HashSet<>(Set.of(root));
        Deque<Piece> next = new ArrayDeque<>(reached);
        while (!next.isEmpty()) {
            Piece piece = next.remove();
            if (piece.image.isProved(piece.range)) {
                continue;
            }
            Reason reason = piece.image.reason(piece.range);
            if (reason == null) {
                reason = follow(piece, reached, next);
            }
            if (reason != null) {
                Reason own =
                        root.equals(piece) ? reason : root.image == piece.image ? Reason.SIBLING : Reason.ELSEWHERE;
                root.image.refute(root.range, own);
                return own;
            }
        }
        for (Piece piece : reached) {
            piece.image.prove(piece.range);
        }
        return null;
    }

    /// Adds what a piece leads to.
    private @Nullable Reason follow(Piece piece, Set<Piece> reached, Deque<Piece> next) throws IOException {
        for (int range : piece.image.siblings(piece.range)) {
            add(new Piece(piece.image, range), reached, next);
        }
        for (String name : piece.image.imports(piece.range)) {
            boolean found = false;
            for (Image image : images) {
                long[] functions = image.uses.named(name);
                found |= functions.length > 0;
                for (long function : functions) {
                    int range = image.uses.range(function);
                    if (range < 0) {
                        return Reason.ELSEWHERE;
                    }
                    add(new Piece(image.uses, range), reached, next);
                }
            }
            if (!found) {
                return Reason.ELSEWHERE;
            }
        }
        return null;
    }

    private static void add(Piece piece, Set<Piece> reached, Deque<Piece> next) {
        if (reached.add(piece)) {
            next.add(piece);
        }
    }
}
