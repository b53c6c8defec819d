/// Metrics in the running program: from requests to snippets, and from values to readers.
@NullMarked
package org.mdlagent.runtime.metric;

import org.jspecify.annotations.NullMarked;
