package org.mdlagent.runtime.mdl;

import java.util.List;
import java.util.Set;

/// What resources there are, by the first part of their paths.
public final class Hierarchies {
    public static final String CODE = "Code";

    /// Of what a program synchronises by.
    public static final String SYNC_OBJECTS = "SyncObject";

    /// Of what descriptors stand for.
    public static final String FILES = "File";

    public static final List<String> ALL = List.of(CODE, "Process", "Thread", "Machine", SYNC_OBJECTS, FILES);

    /// Of what the program makes and uses while it runs, so that code tells one from another.
    public static final Set<String> OF_OBJECTS = Set.of(SYNC_OBJECTS, FILES);

    private Hierarchies() {}
}
