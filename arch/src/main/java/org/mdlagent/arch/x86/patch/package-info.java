/// Views of the instructions at a site: the stores that make it toggle, and copies for other addresses.
@NullMarked
package org.mdlagent.arch.x86.patch;

import org.jspecify.annotations.NullMarked;
