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

/// Files, sockets and pipes by their names. While somebody asks for some, the program's threads name descriptors
/// as they open them ([DescriptorCall]); this names those that were there before, and those that nobody has named.
///
/// Each name has a number from 1 on. A request for all files asks for numbers, some of which no name has yet, so that a
/// file is measured from its first use.
final class OpenedFiles {
    /// What they are a part of.
    static final Resource KIND = new Resource(List.of(Hierarchies.FILES));

    /// Numbers without a name that are kept ready, at least.
    private static final int READY_MIN = 32;

    /// Numbers that are measured together, whether they have names or not.
    private static final int TOGETHER = 64;

    /// Of descriptors that wait for a name, looked at in one go.
    private static final int DESCRIPTORS_MAX = 4096;

    private static final Resource OTHERS = new Resource(List.of(Hierarchies.FILES, ArgumentVector.OTHERS));
    private static final String PREFIX = KIND + "/";
    private static final String SOCKET = "socket:[";

    /// What no thread writes.
    private static final long NAMELESS = Long.MIN_VALUE;

    /// A directory that has no name.
    private static final String UNKNOWN = "..";

    private static final int POINTER_BYTES = 8;

    private final Snippets snippets;
    private final Descriptors descriptors;
    private final SnippetGroup naming;

    /// What the calling thread's values are for.
    private final Map<String, Integer> values = new HashMap<>();

    /// By number, as of the last look.
    private final Map<Integer, Resource> names = new TreeMap<>();

    /// What stood there for descriptors that have no name, when that was looked for in vain.
    private final Map<Integer, Long> hopeless = new HashMap<>();

    private int looked;
    private int ready;
    private int references;
    private long lastNameless;

    /// Where the kernel tells of the program's descriptors: the agent's threads have others.
    private Path process = Path.of("/proc/self");

    OpenedFiles(Snippets snippets) {
        this.snippets = snippets;
        descriptors = snippets.descriptors();
        naming = new SnippetGroup(snippets);
    }

    /// From now on descriptors have names.
    ///
    /// @throws IllegalStateException when the session has no room for them
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

    /// Names what is without a name, and takes the names that threads have given.
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

    /// Those that have a name, the first of each that are measured together, and the rest; nothing when nobody asks.
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

    /// How many are measured together from a number on.
    int together(long first) {
        return (int) Math.min(TOGETHER, descriptors.capacity() + 1 - first);
    }

    /// Where in the session the name of a number is, or will be.
    int text(long number) {
        return descriptors.text(number);
    }

    /// The number of a file, which it gets if it has none; 0 when there is none to be had.
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

    /// Keeps the arguments, and which return they belong to: a signal handler that comes in between and does the same
    /// lets it be another.
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
            throw new AssertionError("no text is told");
        }
    }

    private static @Nullable Path target(Path link) {
        try {
            return Files.readSymbolicLink(link);
        } catch (IOException e) {
            return null; // it is closed by now
        }
    }

    /// Names all that there are.
    private void adoptAll() {
        List<Integer> found = new ArrayList<>();
        try (DirectoryStream<Path> links = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path link : links) {
                found.add(Integer.parseInt(String.valueOf(link.getFileName())));
            }
        } catch (IOException e) {
            return; // they stay without names
        }
        found.forEach(new Adoption()::adopt);
    }

    /// Names those that threads have left without a name since the last time.
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

    /// One look at what the kernel says of descriptors.
    private final class Adoption {
        private @Nullable SocketPeers peers;
        private int left = DESCRIPTORS_MAX;

        /// Names a descriptor unless it has a name, or somebody opens or closes it meanwhile.
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
                // Somebody has who does not tell.
                boolean unused = descriptors.adopt(descriptor, number, NAMELESS);
            }
        }

        /// Number of what a link of the kernel's leads to.
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
