/// The snippets of a probe, the values that they change, and the metrics made of the values.
@NullMarked
package org.mdlagent.fastinst.snippet;

import org.jspecify.annotations.NullMarked;
