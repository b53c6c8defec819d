/// What commands say, and the terminal and operating system they say it on.
@NullMarked
package org.mdlagent.runtime.cli.terminal;

import org.jspecify.annotations.NullMarked;
