/// Where the program's threads spend their CPU time, from samples taken by the kernel.
@NullMarked
package org.mdlagent.profiler.cpu;

import org.jspecify.annotations.NullMarked;
