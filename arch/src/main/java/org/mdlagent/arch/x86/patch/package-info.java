/// Views of the instructions at a site: the stores that make it toggle, and copies that can stand elsewhere.
@NullMarked
package org.mdlagent.arch.x86.patch;

import org.jspecify.annotations.NullMarked;
