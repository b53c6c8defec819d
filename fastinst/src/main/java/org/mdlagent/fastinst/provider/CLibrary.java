package org.mdlagent.fastinst.provider;

import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.elf.SymbolTable;
import org.mdlagent.arch.site.Refusal;

/// Exceptions for glibc's functions. The agent calls them as well, and threads execute them with signals
/// blocked: at the start and end of threads and processes, and in helper threads.
final class CLibrary {
    /// Functions that slow paths of recording call on the program's threads. That they call no others is
    /// checked only by `nm`.
    private static final Set<String> OF_RECORDING = Set.of(
            "__errno_location",
            "clock_gettime",
            "getpid",
            "getrlimit",
            "gettid",
            "madvise",
            "mmap",
            "munmap",
            "pthread_getspecific",
            "pthread_mutex_consistent",
            "pthread_mutex_lock",
            "pthread_mutex_trylock",
            "pthread_mutex_unlock",
            "pthread_setspecific",
            "syscall");

    /// Hooks: they are called where any register may be in use.
    private static final Set<String> HOOKS = Set.of("mcount", "_mcount", "__fentry__");

    /// `start_thread` calls it before the shim knows the thread.
    private static final String THREAD_START = "__ctype_init";

    /// `fork`, which returns in both processes, and what it calls in the child before the handlers of
    /// `pthread_atfork`.
    private static final Set<String> OF_FORK = Set.of(
            "fork",
            "_Fork",
            "_IO_iter_begin",
            "_IO_iter_end",
            "_IO_iter_file",
            "_IO_iter_next",
            "_IO_list_lock",
            "_IO_list_resetlock",
            "_IO_list_unlock");

    private CLibrary() {}

    static boolean is(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.startsWith("libc.so") || name.startsWith("libc-");
    }

    /// Why a function with these names is left alone, or null.
    ///
    /// @param resolver whether it is an ifunc resolver, called by the dynamic linker
    static @Nullable Refusal refusal(Iterable<String> names, boolean resolver) {
        if (resolver) {
            return Refusal.RESOLVER;
        }
        for (String name : names) {
            if (OF_RECORDING.contains(name)) {
                return Refusal.AGENT_NEEDS_IT;
            } else if (EntrySites.EXCLUDED.contains(name)) {
                return Refusal.RETURN_ADDRESS;
            } else if (HOOKS.contains(name)) {
                return Refusal.OTHER_CONVENTION;
            } else if (OF_FORK.contains(name)) {
                return Refusal.FORK;
            } else if (name.equals(THREAD_START)) {
                return Refusal.THREAD_START;
            }
        }
        return null;
    }

    /// The wanted functions that are left alone because of their names.
    ///
    /// @param wanted by link-time address
    static NavigableMap<Long, Refusal> refusals(SymbolTable symbols, LongPredicate wanted) {
        NavigableMap<Long, Refusal> found = new TreeMap<>();
        for (int i = 0; i < symbols.size(); i++) {
            Refusal refusal = refusal(symbols.names(i), symbols.resolver(i));
            if (refusal != null && wanted.test(symbols.start(i))) {
                found.put(symbols.start(i), refusal);
            }
        }
        return found;
    }
}
