/// Replacing instructions of up to eight bytes, straddlers included, in code that other threads execute.
@NullMarked
package org.mdlagent.wordpatch;

import org.jspecify.annotations.NullMarked;
