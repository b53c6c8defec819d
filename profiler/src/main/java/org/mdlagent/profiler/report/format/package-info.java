/// Report formats: text, and files of other tools.
///
/// Long because each format is a class of its own, and all tables share columns and quantities.
@NullMarked
package org.mdlagent.profiler.report.format;

import org.jspecify.annotations.NullMarked;
