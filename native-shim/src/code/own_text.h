/* Whether text is still what it was when it was copied (code/own_text.c). */
#ifndef MDL_OWN_TEXT_H
#define MDL_OWN_TEXT_H

#include <stdint.h>

/* A number for where text comes from and for what it says, `contents`: its own bytes, or a copy of them. The same number in each
 * process. 0 when the text must not be replaced. */
uint64_t own_text_mark(uint64_t start, uint64_t length, const void *contents);

#endif
