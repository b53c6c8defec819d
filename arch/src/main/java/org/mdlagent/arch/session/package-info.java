/// Typed access to the session: one view for each kind of record, and one class that knows the address of each.
///
/// A view is a typed address. Readers cannot write; writers set only fields that Java owns. Each field has one
/// writer, which `mdl/layout.h` names. The memory order of an access is in its name: `Acquire` reads what another
/// thread has published, `Release` publishes earlier stores.
@NullMarked
package org.mdlagent.arch.session;

import org.jspecify.annotations.NullMarked;
