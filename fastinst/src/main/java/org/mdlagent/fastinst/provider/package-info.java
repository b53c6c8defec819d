/// Finds what compilers have left in an image for probes: one provider for each kind.
///
/// Long because providers share what finds functions and reads images, and nobody else uses it.
@NullMarked
package org.mdlagent.fastinst.provider;

import org.jspecify.annotations.NullMarked;
