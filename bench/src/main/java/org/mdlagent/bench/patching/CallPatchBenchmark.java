package org.mdlagent.bench.patching;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.cpu.Membarrier;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.callpatch.CallPatch;
import org.mdlagent.callpatch.SiteSwitch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Toggling and retargeting of sites by one store.
@Warmup(iterations = 3, time = 600, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 400, timeUnit = TimeUnit.MILLISECONDS)
public class CallPatchBenchmark {
    static final int SITES = 20_000;

    /// Functions that each call a hook.
    @State(Scope.Thread)
    public static class Sites {
        private static final byte[] FUNCTION = {
            0x48,
            (byte) 0x83,
            (byte) 0xEC,
            8, // sub $8,%rsp
            (byte) 0xE8,
            0,
            0,
            0,
            0, // call: the site
            0x48,
            (byte) 0x83,
            (byte) 0xC4,
            8, // add $8,%rsp
            (byte) 0xC3 // ret
        };
        private static final int SITE_AT = 4;
        private static final FrameKey KEY = new FrameKey(7, 16);

        final PatchedCode code = new PatchedCode(SITES, 64 - SITE_AT, FUNCTION);
        private final InstructionSet instructions = InstructionSet.host();
        private final CallPatch callPatch =
                new CallPatch(code.api, code.code, code.arena, new Membarrier(code.api), instructions);
        private final SiteSwitch siteSwitch = new SiteSwitch(code.api);
        private final long[] bodies = {
            code.write(instructions.sites().emptyFunction()),
            code.write(instructions.sites().emptyFunction())
        };
        private final long[] stubs = new long[SITES];
        private final MemorySegment indices = Arena.global().allocate(ValueLayout.JAVA_INT, SITES);
        private int round;

        /// Not in a JMH setup method, because no thread may execute a site before it is installed.
        public Sites() {
            long records = code.api.allocate(SITES * SiteDescriptor.SIZE);
            Memory.putLong(code.api.session() + HeaderDescriptor.SITES, records);
            Memory.putInt(code.api.session() + HeaderDescriptor.SITE_CAPACITY, SITES);
            long stub = code.allocate(SITES * instructions.stubs().hookStubSize());
            List<PatchPlan> plans = new ArrayList<>(SITES);
            for (int i = 0; i < SITES; i++) {
                SiteInstruction site = new SiteInstruction(
                        code.function(i) + SITE_AT, SiteInstruction.Form.CALL, SiteInstruction.Role.ENTRY, 0);
                long record = records + i * SiteDescriptor.SIZE;
                Memory.put(code.code.alias(stub), instructions.stubs().hookStub(site, KEY, record, stub, bodies[0]));
                PatchPlan plan = plan(site, stub);
                new SiteRecordWriter(record).setToggle(code.code.alias(plan.toggleAt()), plan);
                plans.add(plan);
                stubs[i] = stub;
                stub += instructions.stubs().hookStubSize();
                indices.setAtIndex(ValueLayout.JAVA_INT, i, i);
            }
            callPatch.install(plans);
            Memory.putIntRelease(code.api.session() + HeaderDescriptor.SITE_COUNT, SITES);
        }

        private PatchPlan plan(SiteInstruction site, long stub) {
            try {
                return callPatch.plan(site, stub);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void toggle(int site, boolean on) {
            long unused = siteSwitch.toggle(indices.address() + (long) site * Integer.BYTES, 1, on);
        }

        void toggleEach(boolean on) {
            for (int i = 0; i < PatchedCode.EXECUTED; i++) {
                toggle(i, on);
            }
        }

        void toggleTogether(int count, boolean on) {
            if (siteSwitch.toggle(indices.address(), count, on) != count) {
                throw new AssertionError("not all sites were toggled");
            }
        }

        void retargetEach() {
            long body = bodies[++round & 1];
            for (int i = 0; i < PatchedCode.EXECUTED; i++) {
                callPatch.retarget(stubs[i], body);
            }
        }

        void toggleAll() {
            toggleTogether(SITES, (++round & 1) != 0);
        }
    }

    /// Sites that another thread may execute.
    public abstract static class ExecutedSites extends Sites {
        /// Whether one does.
        @Param({"false", "true"})
        public boolean executed;

        @Setup
        public void start() {
            if (executed) {
                code.execute();
            }
        }

        @TearDown
        public void stop() throws InterruptedException {
            code.stopExecuting();
        }
    }

    /// Sites that are off before each invocation.
    public static class SitesOff extends ExecutedSites {
        @Setup(Level.Invocation)
        public void switchOff() {
            toggleTogether(PatchedCode.EXECUTED, false);
        }
    }

    /// Sites that are on before each invocation.
    public static class SitesOn extends ExecutedSites {
        @Setup(Level.Invocation)
        public void switchOn() {
            toggleTogether(PatchedCode.EXECUTED, true);
        }
    }

    @Benchmark
    public void on(SitesOff sites) {
        sites.toggleEach(true);
    }

    @Benchmark
    public void off(SitesOn sites) {
        sites.toggleEach(false);
    }

    @Benchmark
    public void retarget(SitesOn sites) {
        sites.retargetEach();
    }

    @Benchmark
    @Warmup(iterations = 3, time = 1_200, timeUnit = TimeUnit.MILLISECONDS)
    public void bulk(Sites sites) {
        sites.toggleAll();
    }
}
