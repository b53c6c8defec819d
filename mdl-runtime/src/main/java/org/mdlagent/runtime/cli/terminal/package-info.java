/// The output of commands, the terminal, and the operating system.
@NullMarked
package org.mdlagent.runtime.cli.terminal;

import org.jspecify.annotations.NullMarked;
