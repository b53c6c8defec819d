/// Probe sites: providers find the sites that compilers left, and the probe table and trampolines turn them
/// into probes.
@NullMarked
package org.mdlagent.fastinst;

import org.jspecify.annotations.NullMarked;
