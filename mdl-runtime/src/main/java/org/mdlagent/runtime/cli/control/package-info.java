/// What is to be measured: `mdl list`, `mdl enable`, `mdl disable`, `mdl compile`.
@NullMarked
package org.mdlagent.runtime.cli.control;

import org.jspecify.annotations.NullMarked;
