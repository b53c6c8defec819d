/// Text that agent and reports write: names of files, untrusted text, JSON.
@NullMarked
package org.mdlagent.profiler.text;

import org.jspecify.annotations.NullMarked;
