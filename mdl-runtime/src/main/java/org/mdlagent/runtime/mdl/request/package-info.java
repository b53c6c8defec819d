/// Turns a request (a metric and a focus) into the snippets that a program needs for it.
///
/// Long because each noun of that walk, from [Evaluator] to [SnippetRequest], is a record of its own, most of them
/// of some lines; they are known to each other only.
@NullMarked
package org.mdlagent.runtime.mdl.request;

import org.jspecify.annotations.NullMarked;
