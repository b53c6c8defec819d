/// What was measured: `mdl report`, `mdl diff`, `mdl history`.
@NullMarked
package org.mdlagent.runtime.cli.report;

import org.jspecify.annotations.NullMarked;
