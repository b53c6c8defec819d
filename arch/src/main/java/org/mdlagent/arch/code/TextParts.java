package org.mdlagent.arch.code;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.mdlagent.arch.layout.TextDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeBuffer;

/// The parts of some copies of text, which the shim shows or hides in one call.
final class TextParts {
    static final int ENOENT = 2;
    private static final int ESTALE = 116;
    private static final int ECANCELED = 125;

    private final List<Part> parts = new ArrayList<>();

    /// `isSkipped`: the shim has left it as it was.
    private static final class Part {
        private final TextCopy copy;
        private final CodeMemory.Mapping mapping;
        private boolean isSkipped;

        Part(TextCopy copy, CodeMemory.Mapping mapping) {
            this.copy = copy;
            this.mapping = mapping;
        }
    }

    /// A function of the shim.
    interface Change {
        /// @param texts address of `count` [TextDescriptor]s
        /// @return 0, or `-errno`
        long apply(long texts, long count);
    }

    TextParts(Collection<TextCopy> copies) {
        copies.forEach(copy -> copy.parts().forEach(mapping -> parts.add(new Part(copy, mapping))));
    }

    /// @param field of [TextDescriptor], which the shim sets to 0 for parts that it skips; on `-ENOENT` it is the mark
    /// @return 0, `-ENOENT`, `-ESTALE` if an image was unloaded all the same, `-ECANCELED` if the agent is dead
    /// @throws IOException if the kernel refuses a mapping
    long change(Change change, long field) throws IOException {
        try (NativeBuffer buffer = NativeBuffer.of(TextDescriptor.SIZE * parts.size())) {
            long texts = buffer.address();
            for (int i = 0; i < parts.size(); i++) {
                CodeMemory.Mapping mapping = parts.get(i).mapping;
                CodeMemory.write(mapping, mapping.alias(), texts + i * TextDescriptor.SIZE);
            }
            long result = change.apply(texts, parts.size());
            if (result < 0 && result != -ENOENT && result != -ESTALE && result != -ECANCELED) {
                throw new IOException("text cannot be mapped: errno " + -result);
            }
            long skipped = result == -ENOENT ? TextDescriptor.MARK : field;
            for (int i = 0; i < parts.size(); i++) {
                parts.get(i).isSkipped = Memory.getLong(texts + i * TextDescriptor.SIZE + skipped) == 0;
            }
            return result;
        }
    }

    /// Copies of which the last change has skipped a part.
    Set<TextCopy> skipped() {
        Set<TextCopy> copies = new HashSet<>();
        parts.stream().filter(part -> part.isSkipped).forEach(part -> copies.add(part.copy));
        return copies;
    }

    void forgetSkipped() {
        parts.removeIf(part -> part.isSkipped);
    }

    void retain(Set<CodeMemory.Mapping> known) {
        parts.removeIf(part -> !known.contains(part.mapping));
    }
}
