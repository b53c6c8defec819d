/// MDL as text: lexer, parser, syntax tree and diagnostics.
@NullMarked
package org.mdlagent.runtime.mdl.syntax;

import org.jspecify.annotations.NullMarked;
