/* Where to map what all processes of a family have at one address. */
#ifndef MDL_PLACE_H
#define MDL_PLACE_H

/* Far from libraries, from the heap and from what the kernel maps next: so it is free in relatives, too, and a gigabyte does not
 * push malloc's arenas down to where the NOPs of libraries lead to, some 1.7 GiB below (EntryView). At random, since what is mapped
 * may be code that can be written there; the kernel takes another place when this one is not free. Of each number another. */
void *place_apart(unsigned number);

#endif
