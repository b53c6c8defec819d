/// What tells which file a descriptor stands for.
@NullMarked
package org.mdlagent.runtime.metric.file;

import org.jspecify.annotations.NullMarked;
