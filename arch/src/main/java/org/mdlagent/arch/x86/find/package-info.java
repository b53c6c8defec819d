/// Where instructions are: calls of hooks, entries, transfers, parts that are inlined.
@NullMarked
package org.mdlagent.arch.x86.find;

import org.jspecify.annotations.NullMarked;
