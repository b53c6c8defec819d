/// The latency profiler: decides which calls are timed and when, and reads the recorded data.
module org.mdlagent.profiler {
    requires transitive org.mdlagent.arch;
    requires transitive org.mdlagent.fastinst;
    requires static transitive HdrHistogram;
    requires static transitive org.jspecify;

    exports org.mdlagent.profiler;
    exports org.mdlagent.profiler.cpu;
    exports org.mdlagent.profiler.figures;
    exports org.mdlagent.profiler.report.codec;
    exports org.mdlagent.profiler.report.exposition;
    exports org.mdlagent.profiler.report.file;
    exports org.mdlagent.profiler.report.format;
    exports org.mdlagent.profiler.report.live;
    exports org.mdlagent.profiler.report.page;
    exports org.mdlagent.profiler.report.profile;
    exports org.mdlagent.profiler.report.session;
    exports org.mdlagent.profiler.report.slice;
    exports org.mdlagent.profiler.report.statistics;
    exports org.mdlagent.profiler.sampled;
    exports org.mdlagent.profiler.slice;
    exports org.mdlagent.profiler.text;
}
