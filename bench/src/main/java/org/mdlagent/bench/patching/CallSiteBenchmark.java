package org.mdlagent.bench.patching;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.invoke.VolatileCallSite;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Toggling of Java's mutable call sites, whose target is a counting method or an empty one.
@Warmup(iterations = 3, time = 600, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class CallSiteBenchmark {
    static final int TOGGLES = 16;
    static final int CALLS = 10_000;
    static final int SITES = 20_000;

    private static final MethodHandle OFF = MethodHandles.empty(MethodType.methodType(void.class));
    private static final MethodHandle ON = counter();

    private static final MutableCallSite MUTABLE = new MutableCallSite(OFF);
    private static final MutableCallSite[] ALL_MUTABLE = {MUTABLE};
    private static final MutableCallSite[] MANY =
            Stream.generate(() -> new MutableCallSite(OFF)).limit(SITES).toArray(MutableCallSite[]::new);
    private static final VolatileCallSite VOLATILE = new VolatileCallSite(OFF);

    /// The compiler treats their targets as constants, as with `invokedynamic`.
    private static final MethodHandle CALL_MUTABLE = MUTABLE.dynamicInvoker();

    private static final MethodHandle CALL_VOLATILE = VOLATILE.dynamicInvoker();

    private static long count;

    private static int rounds;

    private static MethodHandle counter() {
        try {
            return MethodHandles.lookup()
                    .findStatic(CallSiteBenchmark.class, "count", MethodType.methodType(void.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // by the call sites
    private static void count() {
        count++;
    }

    /// Another thread, which may call through both sites.
    @State(Scope.Thread)
    public static class Executor {
        /// Whether it does.
        @Param({"false", "true"})
        public boolean executed;

        private volatile boolean stopped;
        private Thread thread = Thread.currentThread();

        @Setup
        public void start() {
            if (executed) {
                thread = Thread.ofPlatform().name("executor").start(this::execute);
            }
        }

        private void execute() {
            while (!stopped) {
                callBoth();
            }
        }

        /// @throws IllegalStateException if the sites were never executed while on
        @TearDown
        public void stop() throws InterruptedException {
            stopped = true;
            if (executed) {
                thread.join();
                if (count == 0) {
                    throw new IllegalStateException("the other thread has not counted a call");
                }
            }
        }
    }

    private static void callBoth() {
        try {
            CALL_MUTABLE.invokeExact();
            CALL_VOLATILE.invokeExact();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    @Benchmark
    public void toggleMutable(Executor executor) {
        for (int i = 0; i < TOGGLES; i++) {
            toggle(MUTABLE, i);
            MutableCallSite.syncAll(ALL_MUTABLE);
        }
    }

    @Benchmark
    public void toggleVolatile(Executor executor) {
        for (int i = 0; i < TOGGLES; i++) {
            toggle(VOLATILE, i);
        }
    }

    /// Sites that are never called.
    @Benchmark
    public void toggleMany() {
        rounds++;
        for (MutableCallSite site : MANY) {
            toggle(site, rounds);
        }
        MutableCallSite.syncAll(MANY);
    }

    /// Ends with the site off.
    private static void toggle(CallSite site, int round) {
        site.setTarget(round % 2 == 0 ? ON : OFF);
    }

    @Benchmark
    public void callMutable() throws Throwable {
        for (int i = 0; i < CALLS; i++) {
            CALL_MUTABLE.invokeExact();
        }
    }

    @Benchmark
    public void callVolatile() throws Throwable {
        for (int i = 0; i < CALLS; i++) {
            CALL_VOLATILE.invokeExact();
        }
    }
}
