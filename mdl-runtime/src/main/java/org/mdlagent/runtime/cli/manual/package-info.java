/// `mdl manual`: manual pages and completions, generated from the `--help` texts.
@NullMarked
package org.mdlagent.runtime.cli.manual;

import org.jspecify.annotations.NullMarked;
