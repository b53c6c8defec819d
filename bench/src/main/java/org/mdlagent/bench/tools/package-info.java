/// What benchmarks work with: the source tree, compilers, and who watches calls.
@NullMarked
package org.mdlagent.bench.tools;

import org.jspecify.annotations.NullMarked;
