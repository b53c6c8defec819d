/// What every command is given: the console, the sessions of this machine, the installation that it runs from.
@NullMarked
package org.mdlagent.runtime.cli.context;

import org.jspecify.annotations.NullMarked;
