package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.fastinst.install.Images;
import org.mdlagent.fastinst.install.ProbeFilter;
import org.mdlagent.fastinst.install.Tier;
import org.mdlagent.profiler.Collector;
import org.mdlagent.runtime.mdl.Hierarchies;
import org.mdlagent.runtime.mdl.request.Focus;
import org.mdlagent.runtime.mdl.request.Resource;
import org.mdlagent.runtime.mdl.syntax.Spelling;
import org.mdlagent.runtime.metric.Metrics;
import org.mdlagent.runtime.options.AgentOptions;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;

/// Creates probes on demand for functions that the options do not include, once a request names them with their
/// library: `/Code/libc.so.6/malloc`, `libcrypto.so.3!EVP_*`. The profiler ignores them until it is told to record
/// them.
final class OnDemand {
    /// Retry interval while the application opens or closes a library.
    private static final long TRY_NANOS = 1_000_000;

    private static final int TRIES = 100;

    private final Probes probes;
    private final Collector collector;
    private final AgentOptions options;
    private final Follower follower;

    /// Handles libraries that the application has opened and closed; arms the new ones.
    interface Follower {
        void follow() throws IOException;
    }

    OnDemand(Probes probes, Collector collector, AgentOptions options, Follower follower) {
        this.probes = probes;
        this.collector = collector;
        this.options = options;
        this.follower = follower;
    }

    /// Creates the probes that a focus needs, if it names a loaded image.
    ///
    /// @throws IllegalArgumentException if there can be none, with a message for the user
    /// @throws IllegalStateException when the program opens and closes libraries all the time
    void open(Focus focus) throws IOException {
        for (Resource choice : focus.resources()) {
            List<String> parts = choice.components();
            if (choice.hierarchy().equals(Hierarchies.CODE)
                    && parts.size() > 1
                    && !FunctionGlob.isPattern(parts.get(1))) {
                if (parts.size() > 2) {
                    open(FunctionGlob.of(parts.get(1) + "!" + parts.get(2)), Metrics.EXPANDED_MAX);
                } else {
                    open(FunctionGlob.of(parts.get(1) + "!*"));
                }
            }
        }
    }

    /// Creates probes for functions without any, in images that the pattern names.
    ///
    /// @throws IllegalArgumentException if no function that matches the pattern can have one, with a message for
    ///     the user
    /// @throws IllegalStateException when the program opens and closes libraries all the time
    void open(FunctionGlob wanted) throws IOException {
        open(wanted, Integer.MAX_VALUE);
    }

    /// The same.
    ///
    /// @param most maximum functions, including those that have probes already
    void open(FunctionGlob wanted, int most) throws IOException {
        boolean one = !FunctionGlob.isPattern(wanted.function());
        if (probes.images().stream().noneMatch(wanted::namesImage) || !one && probes.areSelected(wanted::namesImage)) {
            return;
        }
        int before = probes.functions(new Matching(wanted)).size();
        if (one && before > 0) {
            return;
        }
        Images.Demanded demanded = demand(wanted, one, Math.max(0, most - before));
        if (probes.haveOpened()) {
            collector.open(probes.openedFunctions(), false);
        } else if (before == 0) {
            throw new IllegalArgumentException(wanted + " has no probe: " + reason(wanted, demanded));
        }
    }

    private Images.Demanded demand(FunctionGlob wanted, boolean one, int most) throws IOException {
        for (int tries = 0; tries < TRIES; tries++) {
            follower.follow();
            Images.Demanded demanded = probes.demand(new Wanted(wanted, options), one, most);
            if (demanded != null) {
                return demanded;
            }
            LockSupport.parkNanos(TRY_NANOS);
        }
        throw new IllegalStateException("the program opens or closes libraries at this moment: try again");
    }

    private String reason(FunctionGlob wanted, Images.Demanded demanded) {
        if (!demanded.reasons().isEmpty()) {
            return String.join("; ", demanded.reasons());
        }
        for (String image : demanded.images()) {
            if (options.excludes(image, "", wanted.function())) {
                return "--exclude leaves it out";
            }
        }
        String hint = Spelling.hint(wanted.function(), demanded.symbols());
        return "the library has no such function" + (hint == null ? "" : ", " + hint);
    }

    /// Functions named by a request, without those excluded by the options.
    private record Wanted(FunctionGlob glob, AgentOptions options) implements ProbeFilter {
        @Override
        public boolean includes(String image, String file, String name) {
            return glob.matches(image, file, name) && !options.excludes(image, file, name);
        }

        @Override
        public @Nullable Tier tier(String image, String file, String name) {
            return options.tier(image, file, name);
        }

        @Override
        public boolean names(String image) {
            return glob.namesImage(image);
        }

        @Override
        public boolean needsFiles() {
            return false;
        }
    }
}
