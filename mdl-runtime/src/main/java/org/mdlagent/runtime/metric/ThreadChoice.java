package org.mdlagent.runtime.metric;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.mdlagent.runtime.mdl.request.Resource;

/// The threads whose values a reader sums.
///
/// @param pid 0 for all processes
/// @param tid 0 for all threads
record ThreadChoice(int pid, int tid) {
    /// @throws IllegalArgumentException if there can be no such process, thread or machine
    static ThreadChoice of(List<Resource> resources) {
        int pid = 0;
        int tid = 0;
        for (Resource resource : resources) {
            String name = resource.components().get(1);
            switch (resource.hierarchy()) {
                case "Process" -> pid = number(name, resource);
                case "Thread" -> tid = number(name, resource);
                case "Machine" -> requireHost(name);
                default -> throw new IllegalArgumentException(resource + " cannot select kernel events");
            }
        }
        return new ThreadChoice(pid, tid);
    }

    private static int number(String name, Resource resource) {
        try {
            return Integer.parseUnsignedInt(name);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(resource + ": '" + name + "' is not a number", e);
        }
    }

    private static void requireHost(String name) {
        if (!name.equals(host())) {
            throw new IllegalArgumentException("this machine is /Machine/" + host());
        }
    }

    /// Name of this machine.
    static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
