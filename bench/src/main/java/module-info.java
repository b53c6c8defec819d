/// Benchmarks of the agent, beside its peers.
module org.mdlagent.bench {
    requires VectorGraphics2D;
    requires java.desktop;
    requires jmh.core;
    requires org.jfree.jfreechart;
    requires org.mdlagent.callpatch;
    requires org.mdlagent.fastinst;
    requires org.mdlagent.profiler;
    requires org.mdlagent.wordpatch;
    requires static org.jspecify;
}
