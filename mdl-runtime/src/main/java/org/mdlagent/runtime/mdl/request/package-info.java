/// Turns a request (a metric and a focus) into the snippets that a program needs for it.
@NullMarked
package org.mdlagent.runtime.mdl.request;

import org.jspecify.annotations.NullMarked;
