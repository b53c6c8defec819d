/// Cost and latency of metrics.
@NullMarked
package org.mdlagent.bench.metrics;

import org.jspecify.annotations.NullMarked;
