/* Addresses for mappings that all processes of a family share. */
#ifndef MDL_PLACE_H
#define MDL_PLACE_H

/* An address far from libraries, from the heap and from the kernel's next mappings. So it is free in relatives too, and a
 * mapping of 1 GiB does not push malloc's arenas down to where the NOPs of libraries point, some 1.7 GiB below
 * (EntryView). Random, because the mapping may hold writable code; a hint: the kernel chooses another place if this one is
 * taken. Different for each `number`. */
void *place_apart(unsigned number);

#endif
