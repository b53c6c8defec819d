/// Replaces single instructions, straddlers included, in code that other threads execute.
module org.mdlagent.wordpatch {
    requires transitive org.mdlagent.arch;
    requires static transitive org.jspecify;

    exports org.mdlagent.wordpatch;
}
