/// Profiles that are kept beyond their sessions, so that runs can be compared; for the command line only.
@NullMarked
package org.mdlagent.runtime.store;

import org.jspecify.annotations.NullMarked;
