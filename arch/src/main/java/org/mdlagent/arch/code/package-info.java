/// Memory for code: arenas near a text, writable aliases, copies of text, the table of traps.
@NullMarked
package org.mdlagent.arch.code;

import org.jspecify.annotations.NullMarked;
