package org.mdlagent.runtime.agent;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.fastinst.Probes;
import org.mdlagent.profiler.Collector;
import org.mdlagent.runtime.options.FunctionGlob;
import org.mdlagent.runtime.options.Matching;

/// `agent detach`: the process executes its files' text, and the agent sleeps. `agent attach`: the probes are back.
/// `agent leave`: detached, and the agent's threads end for good.
///
/// Detaching switches the functions' probes off, for forked processes, and then maps the files' text over the copies.
/// Stubs, wrappers, handlers and threads stay: threads may return through stubs at any time.
final class Detachment implements Command {
    /// The watchdog declares an agent without a sign of life for 5 s dead.
    private static final long REST_NANOS = 2_000_000_000L;

    /// While the application opens or closes a library.
    private static final long TRY_NANOS = 1_000_000;

    private static final int TRIES = 100;

    private final NativeApi api;
    private final Probes probes;
    private final Collector collector;
    private final boolean profiles;
    private List<Integer> recorded = List.of();
    private boolean isDetached;

    /// @param profiles whether the collector records functions
    Detachment(NativeApi api, Probes probes, Collector collector, boolean profiles) {
        this.api = api;
        this.probes = probes;
        this.collector = collector;
        this.profiles = profiles;
    }

    boolean isDetached() {
        return isDetached;
    }

    /// The same command, which is refused while the agent is detached.
    Command refused(Command command) {
        return arguments -> {
            if (isDetached) {
                throw new IllegalArgumentException("the agent is detached from this process: mdl attach PID");
            }
            return command.execute(arguments);
        };
    }

    @Override
    public String execute(String arguments) {
        switch (arguments) {
            case "detach" -> detach();
            case "attach" -> attach();
            case "leave" -> leave();
            default ->
                throw new IllegalArgumentException("the agent is asked to: agent detach, agent attach, agent leave");
        }
        return "";
    }

    private void detach() {
        if (isDetached) {
            throw new IllegalArgumentException("the agent is detached already");
        }
        recorded = profiles
                ? probes.functions(new Matching(FunctionGlob.of("*"))).stream()
                        .filter(function -> !probes.isLeftOut(function))
                        .toList()
                : List.of();
        record(false);
        try {
            insist(probes::hide);
        } catch (IllegalArgumentException e) {
            record(true);
            throw e;
        }
        collector.rest();
        isDetached = true;
    }

    private void attach() {
        if (!isDetached) {
            throw new IllegalArgumentException("the agent is attached");
        }
        insist(probes::showAgain);
        isDetached = false;
        record(true);
    }

    private void leave() {
        if (!isDetached) {
            detach();
        }
        api.leave();
    }

    private void record(boolean on) {
        if (recorded.isEmpty()) {
            return;
        }
        if (on) {
            collector.reopen(recorded);
        } else {
            collector.close(recorded);
        }
    }

    private interface Attempt {
        boolean succeeds() throws IOException;
    }

    private static void insist(Attempt attempt) {
        try {
            for (int tries = 0; !attempt.succeeds(); tries++) {
                if (tries == TRIES) {
                    throw new IllegalArgumentException("the program opens or closes libraries: try again");
                }
                LockSupport.parkNanos(TRY_NANOS);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /// Sleeps, and serves requests, until the agent is attached again. No thread waits for probes meanwhile.
    ///
    /// @param followed openings of libraries that have been handled
    /// @return the same when it returns
    long rest(Control control, long followed) {
        long opened = followed;
        while (isDetached) {
            long seen = api.awaitOpening(REST_NANOS);
            if (seen != opened) {
                opened = seen;
                api.followed(opened);
            }
            api.renewClocks();
            control.serve(api);
        }
        return opened;
    }
}
