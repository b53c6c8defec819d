/// From a request, a metric and a focus, to the snippets that a program needs for it.
@NullMarked
package org.mdlagent.runtime.mdl.request;

import org.jspecify.annotations.NullMarked;
