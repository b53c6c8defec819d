/// `mdl serve`: serves pages and figures of live sessions, and pushes figures to a collector.
@NullMarked
package org.mdlagent.runtime.serve;

import org.jspecify.annotations.NullMarked;
