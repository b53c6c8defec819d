/* The unwinder, which is not linked. */
#ifndef MDL_LIBGCC_H
#define MDL_LIBGCC_H

/* A function of the unwinder that the process uses, or NULL. */
void *unwinder_symbol(const char *name);

#endif
