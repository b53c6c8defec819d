package org.mdlagent.arch.shim;

/// An image that the dynamic linker has loaded.
///
/// `equals` and `hashCode` are written out because the JVM generates a record's own at their first call, as 19 hidden
/// classes, which would delay the start of a program.
///
/// @param path        of its file according to the dynamic linker: possibly relative; only a name for the vDSO
/// @param bias        address in memory minus address in the file
/// @param headers     address of its program headers in memory
/// @param headerCount their number
public record LoadedImage(String path, long bias, long headers, int headerCount) {
    @Override
    public boolean equals(Object object) {
        return object instanceof LoadedImage other
                && bias == other.bias
                && headers == other.headers
                && headerCount == other.headerCount
                && path.equals(other.path);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(headers);
    }
}
