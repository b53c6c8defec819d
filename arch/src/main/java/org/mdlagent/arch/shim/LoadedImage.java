package org.mdlagent.arch.shim;

/// An image that the dynamic linker has loaded.
///
/// @param path        of its file according to the dynamic linker: possibly relative; only a name for the vDSO
/// @param bias        address in memory minus address in the file
/// @param headers     address of its program headers in memory
/// @param headerCount their number
public record LoadedImage(String path, long bias, long headers, int headerCount) {}
