/// Memory for code: what is reserved beside a text, its writable alias, copies of a text, the table of traps.
@NullMarked
package org.mdlagent.arch.code;

import org.jspecify.annotations.NullMarked;
