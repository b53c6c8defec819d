/// Where the program's threads spend their CPU time, by samples of the kernel's.
@NullMarked
package org.mdlagent.profiler.cpu;

import org.jspecify.annotations.NullMarked;
