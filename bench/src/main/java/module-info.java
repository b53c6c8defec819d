/// Benchmarks of the agent, beside its peers.
module org.mdlagent.bench {
    requires jmh.core;
    requires org.mdlagent.callpatch;
    requires org.mdlagent.fastinst;
    requires org.mdlagent.profiler;
    requires org.mdlagent.wordpatch;
    requires static org.jspecify;
}
