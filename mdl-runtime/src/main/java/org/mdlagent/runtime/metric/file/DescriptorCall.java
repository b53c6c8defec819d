package org.mdlagent.runtime.metric.file;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.FileDescriptor;

/// A libc function that opens, names, duplicates or closes descriptors, and the event that the shim gets for it.
///
/// @param function  its name
/// @param event     of `enum mdl_file_event`
/// @param begins    whether the event is sent at entry; else at return
/// @param arguments indices of the passed arguments
public record DescriptorCall(String function, int event, boolean begins, List<Integer> arguments) {
    /// Maximum number of passed arguments.
    public static final int ARGUMENTS = 3;

    /// All functions. Closing is reported at entry, before another thread can get the free number.
    public static final List<DescriptorCall> ALL = all();

    private static List<DescriptorCall> all() {
        List<DescriptorCall> calls = new ArrayList<>();
        returned(
                calls,
                FileDescriptor.EVENT_OPENED,
                List.of(0),
                "open",
                "open64",
                "__open_2",
                "__open64_2",
                "creat",
                "creat64");
        returned(calls, FileDescriptor.EVENT_OPENED, List.of(0), "mkstemp", "mkstemp64", "mkostemp", "mkostemp64");
        returned(
                calls,
                FileDescriptor.EVENT_OPENED_AT,
                List.of(0, 1),
                "openat",
                "openat64",
                "__openat_2",
                "__openat64_2");
        returned(calls, FileDescriptor.EVENT_STREAM_OPENED, List.of(0), "fopen", "fopen64", "freopen", "freopen64");
        returned(calls, FileDescriptor.EVENT_STREAM_OPENED, List.of(), "tmpfile", "tmpfile64", "popen");
        returned(calls, FileDescriptor.EVENT_DIRECTORY_OPENED, List.of(0), "opendir");
        returned(
                calls,
                FileDescriptor.EVENT_MADE,
                List.of(),
                "socket",
                "epoll_create",
                "epoll_create1",
                "eventfd",
                "timerfd_create");
        returned(
                calls,
                FileDescriptor.EVENT_MADE,
                List.of(),
                "signalfd",
                "inotify_init",
                "inotify_init1",
                "memfd_create",
                "shm_open");
        returned(calls, FileDescriptor.EVENT_MADE, List.of(), "posix_openpt", "mq_open", "mkostemps", "mkstemps");
        returned(calls, FileDescriptor.EVENT_PAIR_MADE, List.of(0), "pipe", "pipe2");
        returned(calls, FileDescriptor.EVENT_PAIR_MADE, List.of(3), "socketpair");
        returned(calls, FileDescriptor.EVENT_DUPLICATED, List.of(0), "dup", "dup2", "dup3");
        returned(calls, FileDescriptor.EVENT_CONTROLLED, List.of(0, 1), "fcntl", "fcntl64");
        returned(calls, FileDescriptor.EVENT_CONNECTED, List.of(0, 1, 2), "connect");
        returned(calls, FileDescriptor.EVENT_ACCEPTED, List.of(0, 1, 2), "accept", "accept4");
        returned(calls, FileDescriptor.EVENT_DIRECTORY_ENTERED, List.of(0), "chdir");
        returned(calls, FileDescriptor.EVENT_DIRECTORY_LEFT, List.of(), "fchdir", "chroot");
        begun(calls, FileDescriptor.EVENT_CLOSES, List.of(0), "close");
        begun(calls, FileDescriptor.EVENT_STREAM_CLOSES, List.of(0), "fclose", "pclose");
        begun(calls, FileDescriptor.EVENT_STREAM_CLOSES, List.of(2), "freopen", "freopen64");
        begun(calls, FileDescriptor.EVENT_DIRECTORY_CLOSES, List.of(0), "closedir");
        begun(calls, FileDescriptor.EVENT_RANGE_CLOSES, List.of(0, 1), "close_range");
        return List.copyOf(calls);
    }

    private static void returned(List<DescriptorCall> calls, int event, List<Integer> arguments, String... functions) {
        for (String function : functions) {
            calls.add(new DescriptorCall(function, event, false, arguments));
        }
    }

    private static void begun(List<DescriptorCall> calls, int event, List<Integer> arguments, String... functions) {
        for (String function : functions) {
            calls.add(new DescriptorCall(function, event, true, arguments));
        }
    }
}
