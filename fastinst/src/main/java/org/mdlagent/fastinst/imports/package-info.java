/// Functions of libraries without probes, probed where the program calls them.
@NullMarked
package org.mdlagent.fastinst.imports;

import org.jspecify.annotations.NullMarked;
