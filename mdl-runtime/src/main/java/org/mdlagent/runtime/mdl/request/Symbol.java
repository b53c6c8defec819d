package org.mdlagent.runtime.mdl.request;

/// A global variable or a function of the target.
///
/// @param size   in bytes; 1, 2, 4 or 8 for a variable that code can read
/// @param signed whether it is sign-extended
public record Symbol(String name, long address, int size, boolean signed) {}
