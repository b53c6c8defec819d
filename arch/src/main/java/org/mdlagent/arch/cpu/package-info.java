/// The processor: its identity, its calibration, and the synchronisation of its cores after stores to code.
@NullMarked
package org.mdlagent.arch.cpu;

import org.jspecify.annotations.NullMarked;
