/// Tests that see all modules: torture of the patch protocols, and the rules of the architecture.
@NullMarked
package org.mdlagent.stress;

import org.jspecify.annotations.NullMarked;
