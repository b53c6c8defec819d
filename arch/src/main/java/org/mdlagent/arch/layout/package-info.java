/// The layout of the session file and of the agent's tables. The build generates most of it from the C headers
/// `mdl/layout.h` and `mdl/api.h` (`native-shim/java/layout.awk` states the rules); here is what computes with it.
@NullMarked
package org.mdlagent.arch.layout;

import org.jspecify.annotations.NullMarked;
