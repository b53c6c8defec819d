/* A library that tells the program when it is loaded and unloaded. */
void plugin_begins(void);
void plugin_ends(void);

__attribute__((constructor)) static void begins(void) { plugin_begins(); }
__attribute__((destructor)) static void ends(void) { plugin_ends(); }

__attribute__((visibility("default"))) int plugin(void);

int plugin(void) { return 7; }
