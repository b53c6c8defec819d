/// What the machine offers: memory, code memory, instruction bytes, images, CPU and synchronisation of cores.
@NullMarked
package org.mdlagent.arch;

import org.jspecify.annotations.NullMarked;
