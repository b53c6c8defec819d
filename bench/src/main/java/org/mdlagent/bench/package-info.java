/// What patching and probes cost, in ticks of the time-stamp counter.
@NullMarked
package org.mdlagent.bench;

import org.jspecify.annotations.NullMarked;
