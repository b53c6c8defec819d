/// Where sessions are kept, and how a running agent is asked.
@NullMarked
package org.mdlagent.runtime.cli.session;

import org.jspecify.annotations.NullMarked;
