/// The agent in the target process, and the command line beside it.
///
/// The command line's libraries are optional at run time, so that the agent does not load them.
module org.mdlagent.runtime {
    requires org.mdlagent.arch;
    requires org.mdlagent.fastinst;
    requires org.mdlagent.profiler;
    requires static com.sun.jna;
    requires static info.picocli;
    requires static jdk.httpserver;
    requires static org.jline.terminal;
    requires static org.tukaani.xz;
    requires static transitive org.jspecify;

    exports org.mdlagent.client;

    opens org.mdlagent.runtime.cli to
            info.picocli;
    opens org.mdlagent.runtime.cli.compare to
            info.picocli;
    opens org.mdlagent.runtime.cli.context to
            info.picocli;
    opens org.mdlagent.runtime.cli.control to
            info.picocli;
    opens org.mdlagent.runtime.cli.live to
            info.picocli;
    opens org.mdlagent.runtime.cli.manual to
            info.picocli;
    opens org.mdlagent.runtime.cli.report to
            info.picocli;
    opens org.mdlagent.runtime.cli.run to
            info.picocli;
    opens org.mdlagent.runtime.cli.terminal to
            info.picocli;
}
