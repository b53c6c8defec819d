/// JCStress tests of state machines and queues shared by Java and application threads: one idea per file, each
/// kind with a broken exhibit that proves that its harness can fail.
@NullMarked
package org.mdlagent.stress.jcstress;

import org.jspecify.annotations.NullMarked;
