/// What runs at probes, in a form that knows no machine: snippets, and what is done to them before code is made of
/// them.
@NullMarked
package org.mdlagent.arch.snippet;

import org.jspecify.annotations.NullMarked;
