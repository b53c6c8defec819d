/* The library that the injector's test loads into a process. */
#include <stdlib.h>

/* Returns the number in the text: the injector's exit status is 1 unless it is 0. */
int brought(const char *text) { return atoi(text); }
