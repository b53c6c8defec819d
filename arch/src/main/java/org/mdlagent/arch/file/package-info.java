/// Files by their descriptors: what was checked is what is read, whatever happens to its name.
@NullMarked
package org.mdlagent.arch.file;

import org.jspecify.annotations.NullMarked;
