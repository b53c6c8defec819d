/// Sites that one store toggles: how they are made, and how they are toggled.
@NullMarked
package org.mdlagent.callpatch;

import org.jspecify.annotations.NullMarked;
