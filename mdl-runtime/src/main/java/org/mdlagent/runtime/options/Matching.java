package org.mdlagent.runtime.options;

import org.mdlagent.fastinst.install.ProbeFilter;

/// The functions that match a pattern.
public record Matching(FunctionGlob glob) implements ProbeFilter {
    @Override
    public boolean includes(String image, String file, String name) {
        return glob.matches(image, file, name);
    }

    @Override
    public boolean needsFiles() {
        return glob.needsFile();
    }
}
