/// The bytes of stored records: numbers of variable length, texts.
@NullMarked
package org.mdlagent.profiler.report.codec;

import org.jspecify.annotations.NullMarked;
