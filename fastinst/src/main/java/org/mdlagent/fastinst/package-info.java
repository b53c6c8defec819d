/// Where to measure: providers find the probe sites that compilers left, and the probe table and trampolines make
/// them probes.
@NullMarked
package org.mdlagent.fastinst;

import org.jspecify.annotations.NullMarked;
