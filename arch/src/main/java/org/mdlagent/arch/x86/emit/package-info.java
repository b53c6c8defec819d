/// The machine code of probes: stubs, recording, snippets, and what unwinders must know of them.
@NullMarked
package org.mdlagent.arch.x86.emit;

import org.jspecify.annotations.NullMarked;
