/// What metrics cost, and how soon they count.
@NullMarked
package org.mdlagent.bench.metrics;

import org.jspecify.annotations.NullMarked;
