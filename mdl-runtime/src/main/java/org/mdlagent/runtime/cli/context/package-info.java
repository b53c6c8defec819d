/// The context of every command: the console, the sessions of this machine, the installation.
@NullMarked
package org.mdlagent.runtime.cli.context;

import org.jspecify.annotations.NullMarked;
