/// Toggles call instructions in code that other threads execute, with one store each.
module org.mdlagent.callpatch {
    requires transitive org.mdlagent.arch;
    requires static transitive org.jspecify;

    exports org.mdlagent.callpatch;
}
