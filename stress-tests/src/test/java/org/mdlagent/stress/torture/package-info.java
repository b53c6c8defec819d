/// The torture of the patch protocols: native threads execute sites and report the versions that they see, while
/// the real classes patch them.
@NullMarked
package org.mdlagent.stress.torture;

import org.jspecify.annotations.NullMarked;
