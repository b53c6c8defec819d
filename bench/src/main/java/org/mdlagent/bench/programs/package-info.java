/// What profiling costs real programs and servers, beside other tools.
@NullMarked
package org.mdlagent.bench.programs;

import org.jspecify.annotations.NullMarked;
