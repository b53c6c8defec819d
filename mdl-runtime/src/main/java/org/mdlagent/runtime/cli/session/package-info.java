/// Where sessions are kept, what has become of their programs, and how a running agent is asked.
@NullMarked
package org.mdlagent.runtime.cli.session;

import org.jspecify.annotations.NullMarked;
