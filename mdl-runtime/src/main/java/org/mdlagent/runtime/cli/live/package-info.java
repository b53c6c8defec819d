/// What is being measured: `mdl top`, `mdl watch`, `mdl serve`.
@NullMarked
package org.mdlagent.runtime.cli.live;

import org.jspecify.annotations.NullMarked;
