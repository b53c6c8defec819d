package org.mdlagent.fastinst;

/// Receives discovered probes.
@FunctionalInterface
public interface ProbeListener {
    void discovered(Probe probe);
}
