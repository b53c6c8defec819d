/* The file's text in place of the agent's copy. */
#ifndef MDL_FILE_TEXT_H
#define MDL_FILE_TEXT_H

#include <mdl/api.h>

#include <stdbool.h>

/* Whether the copy is what is mapped there now. */
bool file_text_is_copy(const struct mdl_text *text);
/* Maps the part of the file elsewhere; NULL unless it is the file, and holds the bytes, that were copied. */
void *file_text_map(const char *path, uint64_t offset, const struct mdl_text *text);
/* Moves what file_text_map() has returned to the text's place. 0 or -errno. */
int64_t file_text_put(void *memory, const struct mdl_text *text);
void file_text_discard(void *memory, const struct mdl_text *text);

#endif
