/// Turns a request (a metric and a focus) into the snippets that a program needs for it.
///
/// Long because each concept of this evaluation, from [Evaluator] to [SnippetRequest], is a small record, and only
/// these classes use each other.
@NullMarked
package org.mdlagent.runtime.mdl.request;

import org.jspecify.annotations.NullMarked;
