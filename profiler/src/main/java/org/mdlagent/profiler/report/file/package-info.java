/// The file of a session: foreign bytes, none of which is believed before it is checked, and views of its records.
@NullMarked
package org.mdlagent.profiler.report.file;

import org.jspecify.annotations.NullMarked;
