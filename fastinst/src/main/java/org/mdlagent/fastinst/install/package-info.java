/// The data and code written for a probe: trampolines, their bodies, the session's tables.
@NullMarked
package org.mdlagent.fastinst.install;

import org.jspecify.annotations.NullMarked;
