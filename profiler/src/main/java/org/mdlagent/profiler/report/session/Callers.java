package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.layout.CallerDescriptor;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.statistics.EdgeSums;

/// Finds the callers of calls whose places the agent has not looked at: the last ones, or all of a short program.
final class Callers {
    private final SessionBytes bytes;
    private final CodeMap code;
    private final int functions;

    /// Functions with hooks in the code of others, as their index above the other's; null until needed.
    private @Nullable Set<Long> inlined;

    Callers(SessionBytes bytes, CodeMap code, int functions) {
        this.bytes = bytes;
        this.code = code;
        this.functions = functions;
    }

    /// Index of the caller, or [EdgeSums#NONE].
    ///
    /// @param place offset of a `struct mdl_caller`
    int callerAt(long place) throws IOException {
        int around = code.callerAt(bytes.getLong(place + CallerDescriptor.FROM));
        int below = index(bytes.getLong(place + CallerDescriptor.BELOW));
        return below != EdgeSums.NONE && around != EdgeSums.NONE && inlined().contains(pair(below, around))
                ? below
                : around;
    }

    private Set<Long> inlined() throws IOException {
        Set<Long> found = inlined;
        if (found == null) {
            found = new HashSet<>();
            for (long at : SiteReader.places(bytes)) {
                int function = index(bytes.getLong(at + SiteDescriptor.FUNCTION));
                int owner = index(bytes.getLong(at + SiteDescriptor.OWNER));
                if (function != owner && function != EdgeSums.NONE && owner != EdgeSums.NONE) {
                    found.add(pair(function, owner));
                }
            }
            inlined = found;
        }
        return found;
    }

    private static long pair(int function, int owner) {
        return (long) function << Integer.SIZE | owner;
    }

    /// Index of the function with this record, or [EdgeSums#NONE].
    private int index(long record) throws IOException {
        long distance = record - bytes.getLong(HeaderDescriptor.FUNCTIONS);
        long index = distance / FunctionDescriptor.SIZE;
        return record != 0 && distance >= 0 && index < functions ? (int) index : EdgeSums.NONE;
    }
}
