/// What the machine offers: memory, code memory, instruction bytes, images, CPU and synchronisation of cores.
module org.mdlagent.arch {
    requires static transitive org.jspecify;

    exports org.mdlagent.arch;
    exports org.mdlagent.arch.code;
    exports org.mdlagent.arch.cpu;
    exports org.mdlagent.arch.elf;
    exports org.mdlagent.arch.file;
    exports org.mdlagent.arch.layout;
    exports org.mdlagent.arch.session;
    exports org.mdlagent.arch.shim;
    exports org.mdlagent.arch.site;
    exports org.mdlagent.arch.snippet;
}
