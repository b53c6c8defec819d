package org.mdlagent.arch.shim;

import org.jspecify.annotations.Nullable;

/// Files of the user that keep facts about program files from start to start (`session/image_cache.h`).
public interface KeptFiles {
    /// The file of a name; null if there is none, or if others may have written it.
    ///
    /// @param name lower-case hexadecimal digits
    byte @Nullable [] readKept(String name);

    /// Writes that file.
    ///
    /// @return 0, or `-errno`
    long writeKept(String name, byte[] bytes);
}
