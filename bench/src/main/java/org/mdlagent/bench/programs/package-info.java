/// Cost of profiling real programs and servers, compared with other tools.
@NullMarked
package org.mdlagent.bench.programs;

import org.jspecify.annotations.NullMarked;
