/*
 * What was found out about program files, kept from start to start: files in the directory mdl/images of the user's state
 * home. A file of another build of the agent has another name. A file is used only if the user owns it and its directory,
 * and nobody else may write to them. What is in it is checked by the reader (fastinst's ImageFacts).
 *
 * Files are replaced by renaming, so readers see a whole file. Failures cost speed only.
 */
#ifndef MDL_IMAGE_CACHE_H
#define MDL_IMAGE_CACHE_H

#include <stdint.h>

enum { IMAGE_CACHE_FILES = 256, IMAGE_CACHE_BYTES = 16 << 20 };

/* Reads the file of a name, which consists of lower-case hexadecimal digits, if it has at most `capacity` bytes. The size of
 * the file, or -errno; -EPERM if it may be of others. */
int64_t image_cache_read(const char *name, void *bytes, int64_t capacity);
/* Replaces it. Removes the oldest of too many files: 0 or -errno. */
int64_t image_cache_write(const char *name, const void *bytes, int64_t length);

#endif
