package org.mdlagent.arch.code;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.NativeApi;

/// What stands in for an instruction while it is being replaced.
public interface CodeRelocation {
    /// A one-byte instruction that traps, for [TrapTable]'s handler to redirect the thread.
    byte trapByte();

    /// What has the effect of the instruction `code`, which stands at `address`, without a copy of it.
    ///
    /// @return null when only a copy has ([#relocate])
    @Nullable
    Redirect redirect(byte[] code, long address);

    /// The code that, standing at `at`, has the effect of the instructions `code` at `address`, and then goes on behind
    /// them.
    ///
    /// @throws IllegalArgumentException when there is none, with the reason
    byte[] relocate(NativeApi decoder, byte[] code, long address, long at);
}
