/// Commands that show measurements live: `mdl top`, `mdl watch`, `mdl serve`.
@NullMarked
package org.mdlagent.runtime.cli.live;

import org.jspecify.annotations.NullMarked;
