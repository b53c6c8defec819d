/// MDL: semantics of a file's definitions, independent of a program.
@NullMarked
package org.mdlagent.runtime.mdl;

import org.jspecify.annotations.NullMarked;
