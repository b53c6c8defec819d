/// Commands that show results: `mdl report`, `mdl history`.
@NullMarked
package org.mdlagent.runtime.cli.report;

import org.jspecify.annotations.NullMarked;
