/// Replacing single instructions, straddlers included, in code that other threads execute.
module org.mdlagent.wordpatch {}
