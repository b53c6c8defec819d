/// The torture of the patch protocols: native threads execute sites and say which version they met, while the real
/// classes patch them.
@NullMarked
package org.mdlagent.stress.torture;

import org.jspecify.annotations.NullMarked;
