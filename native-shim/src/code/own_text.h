/* Whether text has changed since it was copied (code/own_text.c). */
#ifndef MDL_OWN_TEXT_H
#define MDL_OWN_TEXT_H

#include <stdint.h>

/* A checksum of the text's origin and of its content, `contents`: its own bytes or a copy. Equal in all processes. 0 if
 * the text must not be replaced. */
uint64_t own_text_mark(uint64_t start, uint64_t length, const void *contents);

#endif
