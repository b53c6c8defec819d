/// Names of functions in stripped images, from separate debug files.
@NullMarked
package org.mdlagent.runtime.cli.names;

import org.jspecify.annotations.NullMarked;
