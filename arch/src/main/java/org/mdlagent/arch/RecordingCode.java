package org.mdlagent.arch;

/// Position-dependent code that records entries and exits.
///
/// @param bytes  the code
/// @param entry  offset of what entry stubs go on in
/// @param exit   offset of what exit stubs go on in
public record RecordingCode(byte[] bytes, int entry, int exit) {}
