/// The agent in the target process, beside the shim: its start, its loop, and the requests of clients.
@NullMarked
package org.mdlagent.runtime.agent;

import org.jspecify.annotations.NullMarked;
