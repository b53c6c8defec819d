/// What to measure: how long functions take, of every call or of samples.
@NullMarked
package org.mdlagent.profiler;

import org.jspecify.annotations.NullMarked;
