/// Tools of benchmarks: the source tree, compilers, and tracers.
@NullMarked
package org.mdlagent.bench.tools;

import org.jspecify.annotations.NullMarked;
