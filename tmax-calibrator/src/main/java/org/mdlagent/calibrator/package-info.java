/// The command `mdl calibrate`: measures the maximum time until other cores see a store to code.
@NullMarked
package org.mdlagent.calibrator;

import org.jspecify.annotations.NullMarked;
