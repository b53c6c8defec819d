/// The data and code written for a probe: trampolines, their bodies, the session's tables.
///
/// Long because images, their sites and functions, and the tables share records that nobody else may write.
@NullMarked
package org.mdlagent.fastinst.install;

import org.jspecify.annotations.NullMarked;
