/// Sites that one store toggles: how they are made so, and how they are toggled.
@NullMarked
package org.mdlagent.callpatch;

import org.jspecify.annotations.NullMarked;
