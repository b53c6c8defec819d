/// Names of functions whose image was stripped, from the files that hold what was stripped.
@NullMarked
package org.mdlagent.runtime.cli.names;

import org.jspecify.annotations.NullMarked;
