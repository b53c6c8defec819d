/// MDL as text: lexer, parser, syntax tree, and what is wrong with a file.
@NullMarked
package org.mdlagent.runtime.mdl.syntax;

import org.jspecify.annotations.NullMarked;
