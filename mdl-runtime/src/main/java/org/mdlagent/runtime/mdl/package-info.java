/// MDL: what a file's definitions mean, whatever program they are asked of.
@NullMarked
package org.mdlagent.runtime.mdl;

import org.jspecify.annotations.NullMarked;
