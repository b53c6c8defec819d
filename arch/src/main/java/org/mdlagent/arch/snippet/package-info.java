/// Snippets, which run at probes, and their machine-independent optimisation.
@NullMarked
package org.mdlagent.arch.snippet;

import org.jspecify.annotations.NullMarked;
