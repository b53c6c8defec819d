/// Commands that choose what is measured: `mdl list`, `mdl enable`, `mdl disable`, `mdl compile`.
@NullMarked
package org.mdlagent.runtime.cli.control;

import org.jspecify.annotations.NullMarked;
