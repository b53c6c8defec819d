/// The session as the code above reads and writes it: one view for each kind of record, and one place that knows where
/// records lie.
///
/// A view is an address with a type. Readers cannot write; a writer's setters are those that Java owns, and each field
/// has one writer, which `mdl/layout.h` names. The order of an access is in its name: `Acquire` is for what another
/// thread has published, `Release` publishes what was stored before.
@NullMarked
package org.mdlagent.arch.session;

import org.jspecify.annotations.NullMarked;
