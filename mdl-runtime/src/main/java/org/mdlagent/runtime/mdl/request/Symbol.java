package org.mdlagent.runtime.mdl.request;

/// A global variable or a function of the target.
///
/// @param size   in bytes; of a variable that code can read: 1, 2, 4 or 8
/// @param signed whether its sign is extended
public record Symbol(String name, long address, int size, boolean signed) {}
