/// Series for monitoring systems: Prometheus and OpenTelemetry.
@NullMarked
package org.mdlagent.profiler.report.exposition;

import org.jspecify.annotations.NullMarked;
