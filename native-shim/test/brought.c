/* The library that the injector's test loads into a process. */
#include <stdlib.h>

/* Returns the number in the text: the injector's exit status is 1 unless it is 0. */
int brought(const char *text) { return atoi(text); }

static int adopted;

void adopt(void) { __atomic_fetch_add(&adopted, 1, __ATOMIC_RELAXED); }

/* 0 if this number of threads has called adopt(). */
int check_adopted(const char *text) { return atoi(text) - adopted; }
