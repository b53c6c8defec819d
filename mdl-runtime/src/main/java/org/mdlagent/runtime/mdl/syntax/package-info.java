/// MDL as text: lexer, parser, syntax tree and diagnostics.
///
/// Long because the nodes of the tree are small types of their own, and the parsers, one for each kind of them,
/// share a stream of tokens and diagnostics that nothing else sees.
@NullMarked
package org.mdlagent.runtime.mdl.syntax;

import org.jspecify.annotations.NullMarked;
