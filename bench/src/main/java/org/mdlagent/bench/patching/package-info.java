/// Cost of changing code.
@NullMarked
package org.mdlagent.bench.patching;

import org.jspecify.annotations.NullMarked;
