/// The C shim's services for Java: its functions, raw memory, mappings, threads, kernel events.
@NullMarked
package org.mdlagent.arch.shim;

import org.jspecify.annotations.NullMarked;
