/* Rebinding of symbols in loaded libraries. */
#ifndef MDL_REBIND_H
#define MDL_REBIND_H

/* Makes the library, a handle of dlopen(), call `function` wherever it calls `symbol` of another library. */
void rebind(void *library, const char *symbol, const void *function);

/* Makes every image call this library's exports instead of the functions of the same name in libc, the dynamic linker or
 * libgcc, as if the library were preloaded. Functions of that name in the program or in an earlier library keep
 * precedence. Pointers that the program has stored, or got from dlsym(), do not change. For attached processes; call it
 * again for images loaded later. Stores are atomic; no thread is stopped. */
void rebind_wrappers(void);

#endif
