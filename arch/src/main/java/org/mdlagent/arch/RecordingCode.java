package org.mdlagent.arch;

/// Position-dependent code that records calls, in the order in which it stands.
///
/// @param bytes         the code
/// @param entry         offset of what entry stubs go on in
/// @param exit          offset of what exit stubs go on in
/// @param functionEntry offset of what stubs of whole functions call
/// @param functionExit  offset of what they go on in when the body has returned
/// @param count         offset of what stubs that count call
public record RecordingCode(byte[] bytes, int entry, int exit, int functionEntry, int functionExit, int count) {}
