/// What it costs to change code.
@NullMarked
package org.mdlagent.bench.patching;

import org.jspecify.annotations.NullMarked;
