/// `mdl manual`: manual pages and completions, from the same words as `--help`.
@NullMarked
package org.mdlagent.runtime.cli.manual;

import org.jspecify.annotations.NullMarked;
