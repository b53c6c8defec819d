/* The unwinder (libgcc_s), looked up at run time instead of linked. */
#ifndef MDL_LIBGCC_H
#define MDL_LIBGCC_H

/* A function of the process's unwinder, or NULL. */
void *unwinder_symbol(const char *name);

#endif
