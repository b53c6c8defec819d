/// MDL as text: lexer, parser, syntax tree and diagnostics.
///
/// Long because each kind of tree node is a small type with a parser, and only these parsers use the token stream
/// and the diagnostics.
@NullMarked
package org.mdlagent.runtime.mdl.syntax;

import org.jspecify.annotations.NullMarked;
