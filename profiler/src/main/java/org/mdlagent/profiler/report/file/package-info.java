/// The session file: untrusted bytes, checked before use, and views of its records.
@NullMarked
package org.mdlagent.profiler.report.file;

import org.jspecify.annotations.NullMarked;
