package org.mdlagent.fastinst;

/// Hears of probes that have been found.
@FunctionalInterface
public interface ProbeListener {
    void discovered(Probe probe);
}
