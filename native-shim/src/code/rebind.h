/* Which function a loaded library calls by a name. */
#ifndef MDL_REBIND_H
#define MDL_REBIND_H

/* From now on the library, a handle of dlopen(), calls `function` where it calls `symbol` of others. */
void rebind(void *library, const char *symbol, const void *function);

/* From now on every image calls the functions that this library exports where it calls those of libc, the dynamic linker
 * or libgcc of the same name, as it would with the library preloaded. Where the program, or a library that comes first, has a
 * function of its own by that name, that one stays. Pointers that the program has asked dlsym() for, or has stored, stay too.
 * For a process that was attached to; again for images that were loaded since. Stores are atomic; nobody is stopped. */
void rebind_wrappers(void);

#endif
