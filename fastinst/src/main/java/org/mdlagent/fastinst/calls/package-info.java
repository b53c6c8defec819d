/// The calls that functions make, and their targets.
@NullMarked
package org.mdlagent.fastinst.calls;

import org.jspecify.annotations.NullMarked;
