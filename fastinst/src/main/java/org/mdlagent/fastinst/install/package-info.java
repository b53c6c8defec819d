/// What is written for a probe: trampolines, the bodies that they lead to, the tables of the session.
@NullMarked
package org.mdlagent.fastinst.install;

import org.jspecify.annotations.NullMarked;
