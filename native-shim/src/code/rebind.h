/* Which function a loaded library calls by a name. */
#ifndef MDL_REBIND_H
#define MDL_REBIND_H

/* From now on the library, a handle of dlopen(), calls `function` where it calls `symbol` of others. */
void rebind(void *library, const char *symbol, const void *function);

#endif
