/// The layout of the session file and of the agent's tables: offsets, shared with the C header `mdl/layout.h`.
///
/// Long because it has a file for each structure of that header, and nothing else.
@NullMarked
package org.mdlagent.arch.layout;

import org.jspecify.annotations.NullMarked;
