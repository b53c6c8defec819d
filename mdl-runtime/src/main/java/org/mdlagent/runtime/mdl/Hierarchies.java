package org.mdlagent.runtime.mdl;

import java.util.List;
import java.util.Set;

/// The resource hierarchies, by the first component of their paths.
public final class Hierarchies {
    public static final String CODE = "Code";

    /// Synchronisation objects.
    public static final String SYNC_OBJECTS = "SyncObject";

    /// Files behind descriptors.
    public static final String FILES = "File";

    public static final List<String> ALL = List.of(CODE, "Process", "Thread", "Machine", SYNC_OBJECTS, FILES);

    /// Objects created at run time, which code distinguishes.
    public static final Set<String> OF_OBJECTS = Set.of(SYNC_OBJECTS, FILES);

    private Hierarchies() {}
}
