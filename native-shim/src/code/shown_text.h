/* Text that the agent has replaced before it was ready, to be reverted in children forked meanwhile (code/shown_text.c). */
#ifndef MDL_SHOWN_TEXT_H
#define MDL_SHOWN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* By the agent, before it replaces this text of the image at `path` ("" for the program). */
void shown_text_note(const char *path, uint64_t start, uint64_t length);

/* In a forked child, on its only thread: restores the file's text. False if some of it could not be restored. */
bool shown_text_take_back(void);

#endif
