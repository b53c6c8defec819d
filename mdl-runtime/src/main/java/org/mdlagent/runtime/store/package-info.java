/// Profiles that outlive their sessions, so that runs can be compared. For the command line only.
@NullMarked
package org.mdlagent.runtime.store;

import org.jspecify.annotations.NullMarked;
