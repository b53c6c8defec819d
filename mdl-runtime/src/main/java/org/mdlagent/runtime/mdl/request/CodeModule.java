package org.mdlagent.runtime.mdl.request;

import java.util.List;

/// A source file, or the image where the debug information names none.
///
/// @param name without slashes
public record CodeModule(String name, List<Procedure> procedures) {}
