/// Which calls a function makes, and whom it calls.
@NullMarked
package org.mdlagent.fastinst.calls;

import org.jspecify.annotations.NullMarked;
