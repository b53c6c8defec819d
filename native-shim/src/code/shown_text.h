/* Text that the agent has replaced before it was ready, for children that are forked meanwhile (code/shown_text.c). */
#ifndef MDL_SHOWN_TEXT_H
#define MDL_SHOWN_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* By the agent, before a copy takes the place of this text of the image at `path`, "" for the program. */
void shown_text_note(const char *path, uint64_t start, uint64_t length);

/* In a forked child, whose only thread is the calling one: the text is the file's again. False when some of it stays. */
bool shown_text_take_back(void);

#endif
