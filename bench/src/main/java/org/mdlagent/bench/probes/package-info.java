/// What probes cost, how that grows, and what starting takes.
@NullMarked
package org.mdlagent.bench.probes;

import org.jspecify.annotations.NullMarked;
