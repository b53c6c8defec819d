/// JCStress: the state machines and queues that Java threads share with each other and with application threads, one
/// idea per file, each kind with a broken exhibit that proves that its harness can fail.
@NullMarked
package org.mdlagent.stress.jcstress;

import org.jspecify.annotations.NullMarked;
