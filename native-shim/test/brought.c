/* What the test of the injector brings into a process. */
#include <stdlib.h>

/* The number in the text: the injector's exit status is 1 unless it is 0. */
int brought(const char *text) { return atoi(text); }
