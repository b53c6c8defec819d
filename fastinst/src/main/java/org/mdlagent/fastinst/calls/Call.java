package org.mdlagent.fastinst.calls;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A call made by a probed function, or a tail jump to another function. The probes of the callee identify
/// the call by its return address.
///
/// @param caller        address of the function that contains it, or that is inlined there
/// @param offset        of the instruction, from the start of that function
/// @param returnAddress identifies the call in probes of the callee
/// @param callee        demangled name of the callee, "" when unknown
/// @param entries       probes at the callee's entry; if there are several, only the one of the function
///     actually called runs
/// @param returns       probes at its return, of which one runs
/// @param obstacle      why no probe sees this call, null when one does
public record Call(
        long caller,
        long offset,
        long returnAddress,
        String callee,
        List<Integer> entries,
        List<Integer> returns,
        @Nullable String obstacle) {}
