/// Files by their descriptors: the file that was checked is the one that is read, even if its name changes.
@NullMarked
package org.mdlagent.arch.file;

import org.jspecify.annotations.NullMarked;
