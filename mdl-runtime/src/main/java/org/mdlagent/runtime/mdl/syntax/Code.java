package org.mdlagent.runtime.mdl.syntax;

import org.jspecify.annotations.Nullable;

/// A statement between `(*` and `*)`: it runs in the target.
///
/// @param condition without one it always runs
public record Code(@Nullable Expression condition, Expression effect) {}
