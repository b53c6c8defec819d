/// Reading a session: untrusted bytes, checked before use.
@NullMarked
package org.mdlagent.profiler.report.session;

import org.jspecify.annotations.NullMarked;
