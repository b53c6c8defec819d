#include <dlfcn.h>

__attribute__((visibility("default"))) char *outer(void);

char *outer(void) { return dlopen("libinner.so", RTLD_NOW) ? "found" : dlerror(); }
