/// Finds what compilers have left in an image for probes: one provider for each kind.
@NullMarked
package org.mdlagent.fastinst.provider;

import org.jspecify.annotations.NullMarked;
