/// `mdl diff`: compares two sessions, or two builds that it runs.
@NullMarked
package org.mdlagent.runtime.cli.compare;

import org.jspecify.annotations.NullMarked;
