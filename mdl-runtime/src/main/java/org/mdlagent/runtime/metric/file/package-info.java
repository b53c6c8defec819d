/// The mapping from descriptors to files.
@NullMarked
package org.mdlagent.runtime.metric.file;

import org.jspecify.annotations.NullMarked;
