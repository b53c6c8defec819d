/// What is written for a probe: trampolines, the bodies that they lead to, the tables of the session.
///
/// Long because images, their sites and functions, and the tables share records that nobody else is to write.
@NullMarked
package org.mdlagent.fastinst.install;

import org.jspecify.annotations.NullMarked;
