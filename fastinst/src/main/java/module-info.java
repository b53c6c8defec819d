/// Probes: possible sites, how they are found, and the code that runs at them.
module org.mdlagent.fastinst {
    requires transitive org.mdlagent.arch;
    requires transitive org.mdlagent.callpatch;
    requires static transitive org.jspecify;

    exports org.mdlagent.fastinst;
    exports org.mdlagent.fastinst.calls;
    exports org.mdlagent.fastinst.imports;
    exports org.mdlagent.fastinst.install;
    exports org.mdlagent.fastinst.provider;
    exports org.mdlagent.fastinst.snippet;
}
