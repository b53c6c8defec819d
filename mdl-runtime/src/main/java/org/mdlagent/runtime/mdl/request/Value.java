package org.mdlagent.runtime.mdl.request;

import org.mdlagent.runtime.mdl.syntax.ValueKind;

/// A per-thread counter or timer. Equal values are identical: requests that need the same flag share it.
///
/// @param name  in the file
/// @param owner the metric and focus, or the resource of a constraint, that it belongs to
public record Value(String name, ValueKind kind, String owner) {}
