/// The processor: what it is, what was calibrated on it, and how its cores are made to see a store to code.
@NullMarked
package org.mdlagent.arch.cpu;

import org.jspecify.annotations.NullMarked;
