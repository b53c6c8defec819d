/// Metrics in the running program: from a request to the snippets that measure it, and back.
@NullMarked
package org.mdlagent.runtime.metric;

import org.jspecify.annotations.NullMarked;
