package org.mdlagent.arch.code;

import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.shim.NativeApi;

/// Substitutes for an instruction while it is being replaced.
public interface CodeRelocation {
    /// A one-byte instruction that traps, for [TrapTable]'s handler to redirect the thread.
    byte trapByte();

    /// An equivalent of the instruction `code` at `address` without a copy of it.
    ///
    /// @return null if only a copy is equivalent ([#relocate])
    @Nullable
    Redirect redirect(byte[] code, long address);

    /// Code for address `at` with the effect of the instructions `code` at `address`, which then continues after
    /// them.
    ///
    /// @throws IllegalArgumentException if there is none, with the reason
    byte[] relocate(NativeApi decoder, byte[] code, long address, long at);
}
