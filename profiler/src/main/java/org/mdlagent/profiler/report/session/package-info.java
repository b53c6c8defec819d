/// Reading a session: foreign bytes, none of which is believed before it is checked.
@NullMarked
package org.mdlagent.profiler.report.session;

import org.jspecify.annotations.NullMarked;
