/// Benchmarks of the agent, beside its peers.
module org.mdlagent.bench {
    requires jmh.core;
    requires org.mdlagent.callpatch;
    requires org.mdlagent.wordpatch;
    requires static org.jspecify;
}
