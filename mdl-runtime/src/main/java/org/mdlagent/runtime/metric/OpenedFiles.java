package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.Descriptors;
import org.mdlagent.arch.snippet.Expression;
import org.mdlagent.fastinst.snippet.Snippets;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.request.ArgumentVector;
import org.mdlagent.runtime.mdl.request.Point;
import org.mdlagent.runtime.mdl.request.Procedure;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.request.SnippetExpression;
import org.mdlagent.runtime.mdl.request.SnippetRequest;
import org.mdlagent.runtime.mdl.request.Symbol;
import org.mdlagent.runtime.mdl.request.Value;
import org.mdlagent.runtime.mdl.syntax.Operator;
import org.mdlagent.runtime.mdl.syntax.Statement;
import org.mdlagent.runtime.mdl.syntax.ValueKind;
import org.mdlagent.runtime.metric.file.DescriptorCall;
import org.mdlagent.runtime.metric.file.SocketPeers;
import org.mdlagent.runtime.options.FunctionGlob;

/// Files, sockets and pipes by name. While a request selects some, the program's threads name descriptors as they
/// open them ([DescriptorCall]); this class names earlier and unnamed descriptors.
///
/// Names are numbered from 1. A request for all files enables numbers in advance, so that a file is measured from
/// its first use.
final class OpenedFiles {
    /// Their parent.
    static final Resource KIND = new Resource(List.of(Hierarchies.FILES));

    /// Minimum reserve of unnamed numbers.
    private static final int READY_MIN = 32;

    /// Size of a group of numbers, named or not, that are measured together.
    private static final int TOGETHER = 64;

    /// Maximum unnamed descriptors per pass.
    private static final int DESCRIPTORS_MAX = 4096;

    private static final Resource OTHERS = new Resource(List.of(Hierarchies.FILES, ArgumentVector.OTHERS));
    private static final String PREFIX = KIND + "/";
    private static final String SOCKET = "socket:[";

    /// A value that no thread writes.
    private static final long NAMELESS = Long.MIN_VALUE;

    /// A directory without a name.
    private static final String UNKNOWN = "..";

    private static final int POINTER_BYTES = 8;

    private final Snippets snippets;
    private final Descriptors descriptors;
    private final SnippetGroup naming;

    /// Uses of the calling thread's values.
    private final Map<String, Integer> values = new HashMap<>();

    /// Names by number at the last look.
    private final Map<Integer, Resource> names = new TreeMap<>();

    /// Table entries of descriptors for which no name was found.
    private final Map<Integer, Long> hopeless = new HashMap<>();

    private int looked;
    private int ready;
    private int references;
    private long lastNameless;

    /// The /proc directory of the program's descriptors: the agent's threads have their own.
    private Path process = Path.of("/proc/self");

    OpenedFiles(Snippets snippets) {
        this.snippets = snippets;
        descriptors = snippets.descriptors();
        naming = new SnippetGroup(snippets);
    }

    /// Starts naming descriptors.
    ///
    /// @throws IllegalStateException if the session is out of memory
    void retain(ProbedProgram program) throws IOException {
        descriptors.begin();
        naming.attach(requests(program), program, new Lowering(new Storage()));
        if (references++ == 0) {
            descriptors.forget();
            hopeless.clear();
            process = Path.of("/proc/self/task/" + program.thread());
            Path directory = target(process.resolve("cwd"));
            descriptors.enter(directory == null ? UNKNOWN : directory.toString());
            adoptAll();
        }
        boolean unused = look();
    }

    void release() throws IOException {
        if (--references == 0) {
            naming.detach();
        }
    }

    /// Names unnamed descriptors, and takes over the names that threads have given.
    ///
    /// @return whether there are more
    boolean observe() {
        if (references == 0) {
            return false;
        }
        adoptNew();
        return look();
    }

    private boolean look() {
        int taken = descriptors.taken();
        boolean more = taken > looked;
        for (int number = looked + 1; number <= taken; number++) {
            String name = descriptors.name(number);
            if (!name.isEmpty()) {
                names.put(number, Resource.of(name));
            }
        }
        looked = taken;
        while (ready < taken + READY_MIN && ready < descriptors.capacity()) {
            ready += TOGETHER;
            more = true;
        }
        return more;
    }

    /// Named files, the first of each group, and the rest; empty if no request selects files.
    List<Resource> resources() {
        if (references == 0) {
            return List.of();
        }
        List<Resource> resources = new ArrayList<>();
        resources.add(KIND);
        resources.add(OTHERS);
        resources.addAll(names.values());
        for (int number = 1; number <= ready; number += TOGETHER) {
            resources.add(Resource.ofFile(number));
        }
        return resources;
    }

    /// Size of the group that starts at a number.
    int together(long first) {
        return (int) Math.min(TOGETHER, descriptors.capacity() + 1 - first);
    }

    /// Offset in the session of the current or future name of a number.
    int text(long number) {
        return descriptors.text(number);
    }

    /// The number of a file, assigned if necessary; 0 if none is left.
    long number(Resource file) {
        descriptors.begin();
        String name = file.components().get(1);
        return name.startsWith("socket:") || name.startsWith("pipe:") || name.startsWith("anon_inode:")
                ? descriptors.number(file.toString())
                : descriptors.ofPath("/" + name);
    }

    private List<SnippetRequest> requests(ProbedProgram program) {
        List<SnippetRequest> requests = new ArrayList<>();
        for (DescriptorCall call : DescriptorCall.ALL) {
            for (Procedure function : program.imported(FunctionGlob.of(call.function()))) {
                if (call.begins()) {
                    requests.add(
                            request(new Point.Entry(function), List.of(told(call, constant(1), call.arguments()))));
                } else {
                    requests.add(request(new Point.Entry(function), arguments(call)));
                    requests.add(request(new Point.Return(function), returned(call)));
                }
            }
        }
        return requests;
    }

    private static SnippetRequest request(Point point, List<SnippetExpression> code) {
        return new SnippetRequest(
                point,
                Statement.Side.BEFORE,
                Statement.Order.PREPEND,
                List.of(),
                code.stream().<SnippetRequest.Step>map(SnippetRequest.Run::new).toList());
    }

    /// Saves the arguments with the return address that they belong to: a signal handler that does the same in
    /// between changes it.
    private static List<SnippetExpression> arguments(DescriptorCall call) {
        List<SnippetExpression> code = new ArrayList<>();
        code.add(new SnippetExpression.Store(value("kept"), next()));
        for (int i = 0; i < call.arguments().size(); i++) {
            code.add(new SnippetExpression.Store(
                    value("argument" + i),
                    new SnippetExpression.Argument(call.arguments().get(i))));
        }
        return code;
    }

    private List<SnippetExpression> returned(DescriptorCall call) {
        List<SnippetExpression> told = new ArrayList<>();
        told.add(constant(call.event()));
        told.add(new SnippetExpression.Binary(Operator.EQUAL, load("kept"), next()));
        for (int i = 0; i < DescriptorCall.ARGUMENTS; i++) {
            told.add(i < call.arguments().size() ? load("argument" + i) : constant(0));
        }
        told.add(new SnippetExpression.Result());
        return List.of(
                new SnippetExpression.Call(note(), told), new SnippetExpression.Add(value("returns"), constant(1)));
    }

    private SnippetExpression told(DescriptorCall call, SnippetExpression known, List<Integer> arguments) {
        List<SnippetExpression> told = new ArrayList<>(List.of(constant(call.event()), known));
        for (int i = 0; i < DescriptorCall.ARGUMENTS; i++) {
            told.add(i < arguments.size() ? new SnippetExpression.Argument(arguments.get(i)) : constant(0));
        }
        told.add(constant(0));
        return new SnippetExpression.Call(note(), told);
    }

    private Symbol note() {
        return new Symbol("files_note", descriptors.note(), POINTER_BYTES, false);
    }

    private static SnippetExpression constant(long number) {
        return new SnippetExpression.Constant(number);
    }

    private static SnippetExpression load(String name) {
        return new SnippetExpression.Load(value(name));
    }

    private static SnippetExpression next() {
        return new SnippetExpression.Binary(Operator.ADD, load("returns"), constant(1));
    }

    private static Value value(String name) {
        return new Value(name, ValueKind.COUNTER, KIND.toString());
    }

    private final class Storage implements Lowering.Storage {
        @Override
        public int index(Value value) {
            return values.computeIfAbsent(value.name(), key -> snippets.values().counter());
        }

        @Override
        public Optional<Expression.Member> member(Value flag) {
            return Optional.empty();
        }

        @Override
        public int errors() {
            return index(value("errors"));
        }

        @Override
        public long text(String text) {
            throw new AssertionError("no text is stored");
        }
    }

    private static @Nullable Path target(Path link) {
        try {
            return Files.readSymbolicLink(link);
        } catch (IOException e) {
            return null; // closed meanwhile
        }
    }

    /// Names all descriptors.
    private void adoptAll() {
        List<Integer> found = new ArrayList<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path link : links) {
                found.add(Integer.parseInt(String.valueOf(link.getFileName())));
            }
        } catch (IOException e) {
            return; // they stay unnamed
        }
        found.forEach(new Adoption()::adopt);
    }

    /// Names descriptors left unnamed by threads since the last pass.
    private void adoptNew() {
        long nameless = descriptors.nameless();
        if (nameless == lastNameless) {
            return;
        }
        lastNameless = nameless;
        Adoption adoption = new Adoption();
        int end = descriptors.end();
        for (int descriptor = 0; descriptor < end; descriptor++) {
            if (descriptors.entry(descriptor) < 0) {
                adoption.adopt(descriptor);
            }
        }
    }

    /// One pass over the kernel's list of descriptors.
    private final class Adoption {
        private @Nullable SocketPeers peers;
        private int left = DESCRIPTORS_MAX;

        /// Names a descriptor unless it has a name, or is opened or closed meanwhile.
        void adopt(int descriptor) {
            long entry = descriptors.entry(descriptor);
            if (entry > 0 || Objects.equals(hopeless.get(descriptor), entry) || left-- <= 0) {
                return;
            }
            Path link = process.resolve("fd/" + descriptor);
            Path target = target(link);
            if (target == null) {
                return;
            }
            long number = number(target.toString());
            if (number == 0) {
                hopeless.put(descriptor, entry);
            } else if (descriptors.adopt(descriptor, entry, number) && !target.equals(target(link))) {
                // Changed by a function without snippets.
                boolean unused = descriptors.adopt(descriptor, number, NAMELESS);
            }
        }

        /// Number of the target of a /proc link.
        private long number(String target) {
            if (target.startsWith("/")) {
                return descriptors.ofPath(target);
            }
            if (!target.startsWith(SOCKET)) {
                return descriptors.number(PREFIX + target);
            }
            if (peers == null) {
                peers = SocketPeers.read(process.resolve("net"));
            }
            SocketPeers.Peer peer = peers.of(Long.parseLong(target.substring(SOCKET.length(), target.length() - 1)));
            return peer == null ? 0 : descriptors.ofPeer(peer.address(), peer.accepted());
        }
    }
}
