package org.mdlagent.runtime.cli.run;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.KeptFiles;
import org.mdlagent.runtime.cli.terminal.CommandFailure;
import org.mdlagent.runtime.cli.terminal.Posix;

/// The agent's files with facts about programs, in a process without the agent. The library is the agent's code
/// (`image_cache.c`): names, owners and modes of files are the same.
final class KeptLibrary implements KeptFiles {
    private final byte[] stateHome;
    private final Function read;
    private final Function write;

    /// @param library   `libmdlkept.so`, beside the agent's library
    /// @param stateHome the user's directory for state, as `XDG_STATE_HOME`
    /// @throws CommandFailure if the library is missing
    KeptLibrary(Path library, Path stateHome) {
        this.stateHome = text(stateHome.toString());
        try {
            NativeLibrary loaded = NativeLibrary.getInstance(library.toString());
            read = loaded.getFunction("kept_read");
            write = loaded.getFunction("kept_write");
        } catch (UnsatisfiedLinkError e) {
            throw CommandFailure.failed(library + " cannot be loaded: " + e.getMessage(), "install mdl again");
        }
    }

    @Override
    public byte @Nullable [] readKept(String name) {
        long size = invoke(read, name, null, 0);
        if (size <= 0) {
            return null;
        }
        byte[] bytes = new byte[Math.toIntExact(size)];
        return invoke(read, name, bytes, size) == size ? bytes : null;
    }

    @Override
    public long writeKept(String name, byte[] bytes) {
        return invoke(write, name, bytes, bytes.length);
    }

    private long invoke(Function function, String name, byte @Nullable [] bytes, long length) {
        return (Long) function.invoke(Long.class, new @Nullable Object[] {stateHome, text(name), bytes, length});
    }

    /// For C.
    private static byte[] text(String text) {
        return Posix.bytes(text + '\0');
    }
}
