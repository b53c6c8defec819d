package org.mdlagent.runtime.mdl.request;

import java.util.List;

/// A source file, or an image without source files in its debug information.
///
/// @param name without slashes
public record CodeModule(String name, List<Procedure> procedures) {}
