/// `mdl serve`: a server of the live sessions' pages and figures, and a sender of the figures to a collector.
@NullMarked
package org.mdlagent.runtime.serve;

import org.jspecify.annotations.NullMarked;
