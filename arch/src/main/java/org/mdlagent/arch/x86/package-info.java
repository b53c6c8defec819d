/// The x86-64 instruction set: the encodings that are emitted, and views of those that are patched.
@NullMarked
package org.mdlagent.arch.x86;

import org.jspecify.annotations.NullMarked;
