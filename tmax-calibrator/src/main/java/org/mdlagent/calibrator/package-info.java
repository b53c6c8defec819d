/// The command `mdl calibrate`: measures how long a store to code may take to reach the other cores.
@NullMarked
package org.mdlagent.calibrator;

import org.jspecify.annotations.NullMarked;
