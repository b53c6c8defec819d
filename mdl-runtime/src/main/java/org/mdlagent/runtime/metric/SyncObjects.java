package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.arch.snippet.Statement;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Value;

/// Synchronisation objects (mutexes, condition variables, messages) and files. They are discovered as they are
/// used, while metrics are enabled that could be constrained to them. Threads note the objects that they use
/// ([Statement.Discover]), and the agent collects the notes.
final class SyncObjects {
    /// Of one kind.
    private static final int OBJECTS_MAX = 1000;

    private final Snippets snippets;
    private final OpenedFiles files;
    private final Map<String, Kind> kinds = new TreeMap<>();

    /// Objects of a kind.
    private static final class Kind {
        private final int table;
        private final SnippetGroup group;
        private final Set<Long> seen = new TreeSet<>();
        private int references;

        Kind(int table, SnippetGroup group) {
            this.table = table;
            this.group = group;
        }
    }

    SyncObjects(Snippets snippets) {
        this.snippets = snippets;
        files = new OpenedFiles(snippets);
    }

    /// Objects of the kind `/File`.
    OpenedFiles files() {
        return files;
    }

    /// Starts the discovery of objects of these kinds, if there is room for the notes.
    ///
    /// @param discoveries discovery snippets by kind
    void retain(Map<Resource, List<SnippetRequest>> discoveries, ProbedProgram program) throws IOException {
        for (Map.Entry<Resource, List<SnippetRequest>> one : discoveries.entrySet()) {
            if (one.getKey().equals(OpenedFiles.KIND)) {
                files.retain(program);
                continue;
            }
            Kind kind = kinds.get(one.getKey().toString());
            if (kind == null) {
                kind = new Kind(snippets.values().counters(Statement.Discover.SIZE), new SnippetGroup(snippets));
                kinds.put(one.getKey().toString(), kind);
            }
            kind.references++;
            int table = kind.table;
            if (table != 0) {
                kind.group.attach(one.getValue(), program, noting(table));
            }
        }
    }

    private static Lowering noting(int table) {
        return new Lowering(new Lowering.Storage() {
            @Override
            public int index(Value value) {
                return table;
            }

            @Override
            public Optional<Expression.Member> member(Value flag) {
                return Optional.empty();
            }

            @Override
            public int errors() {
                throw new AssertionError("an argument has no errors");
            }

            @Override
            public long text(String text) {
                throw new AssertionError("an argument is no text");
            }
        });
    }

    /// Reverts [#retain], except for discovered objects and the room for notes.
    void release(Set<Resource> released) throws IOException {
        for (Resource resource : released) {
            if (resource.equals(OpenedFiles.KIND)) {
                files.release();
            }
            Kind kind = kinds.get(resource.toString());
            if (kind != null && --kind.references == 0) {
                kind.group.detach();
            }
        }
    }

    /// Collects the notes of threads.
    ///
    /// @return whether a new object was discovered
    boolean observe() {
        boolean more = files.observe();
        for (Kind kind : kinds.values()) {
            if (kind.table != 0) {
                for (long object : snippets.values().takeDiscovered(kind.table)) {
                    more |= kind.seen.size() < OBJECTS_MAX && kind.seen.add(object);
                }
            }
        }
        return more;
    }

    /// Discovered objects, each after its kind.
    List<Resource> seen() {
        List<Resource> resources = new ArrayList<>(files.resources());
        kinds.forEach((path, kind) -> {
            resources.add(Resource.of(path));
            kind.seen.forEach(object -> resources.add(Resource.of(path + "/" + name(object))));
        });
        return resources;
    }

    /// An address, or a small number such as the tag of a message.
    private static String name(long object) {
        return object > 0 && object < Short.MAX_VALUE ? Long.toString(object) : "0x" + Long.toHexString(object);
    }
}
