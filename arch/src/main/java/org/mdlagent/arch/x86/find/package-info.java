/// Search for instructions: calls of hooks, entries, transfers, inlined parts.
@NullMarked
package org.mdlagent.arch.x86.find;

import org.jspecify.annotations.NullMarked;
