/// Cost and scaling of probes, and start-up cost.
@NullMarked
package org.mdlagent.bench.probes;

import org.jspecify.annotations.NullMarked;
