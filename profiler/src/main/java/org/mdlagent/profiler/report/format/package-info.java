/// Report formats: text, and files of other tools.
@NullMarked
package org.mdlagent.profiler.report.format;

import org.jspecify.annotations.NullMarked;
