package org.mdlagent.fastinst.calls;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A call that a function with probes makes, or a jump by which it leaves for another function. What it calls sees it:
/// the probes of the callee know by the return address which call it is.
///
/// @param caller        address of the function that it is in, or that is inlined there
/// @param offset        of the instruction, from the start of that function
/// @param returnAddress what probes of the callee tell it by
/// @param callee        demangled name of what is called, "" when it is not known
/// @param entries       probes that see the callee begin: one, or of several only the one that is called runs
/// @param returns       probes that see it return, of which one runs
/// @param obstacle      why no probe sees this call, null when one does
public record Call(
        long caller,
        long offset,
        long returnAddress,
        String callee,
        List<Integer> entries,
        List<Integer> returns,
        @Nullable String obstacle) {}
