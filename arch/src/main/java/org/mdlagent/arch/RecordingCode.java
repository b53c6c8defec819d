package org.mdlagent.arch;

/// Position-dependent code that records entries and exits.
///
/// @param bytes  the code
/// @param entry  offset of what entry stubs go on in
/// @param exit   offset of what exit stubs go on in
/// @param ret    offset of an instruction that only returns
public record RecordingCode(byte[] bytes, int entry, int exit, int ret) {}
