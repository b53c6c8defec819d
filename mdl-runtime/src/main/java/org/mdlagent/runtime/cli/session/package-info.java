/// Where sessions are kept, the state of their programs, and requests to running agents.
@NullMarked
package org.mdlagent.runtime.cli.session;

import org.jspecify.annotations.NullMarked;
