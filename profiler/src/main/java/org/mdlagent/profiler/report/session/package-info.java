/// Reading a session: untrusted bytes, checked before use.
///
/// Long because it has a reader for each structure of a session, which share what checks them.
@NullMarked
package org.mdlagent.profiler.report.session;

import org.jspecify.annotations.NullMarked;
