/// Tests of the protocol, step by step, on code that is executed between the steps.
@NullMarked
package org.mdlagent.wordpatch;

import org.jspecify.annotations.NullMarked;
