/*
 * The file behind each descriptor of this process, for `fileOf` in MDL.
 *
 * Assumes
 *   A1 snippets at functions that open, duplicate and close descriptors call files_note()
 *   A2 a path or an address that such a function has accepted is readable: the kernel has just read it
 * Guarantees
 *   G1 a descriptor has the number of the name that it was opened by, or a unique negative number
 *   G2 a name has one number in all processes of the session, and a number one name
 * Progress
 *   P1 no lock, no system call, no allocation: the second thread finds what the first has written, or writes its own
 * Files that do not fit, or whose path is uncertain (".." after a link, an unknown current directory), have no name.
 */
#ifndef MDL_FILES_H
#define MDL_FILES_H

#include <mdl/api.h>
#include <stdbool.h>
#include <stdint.h>

/* event: enum mdl_file_event. known: whether a, b and c are this call's arguments. errno is as the function has left it. */
uint64_t files_note(uint64_t event, uint64_t known, uint64_t a, uint64_t b, uint64_t c, uint64_t result);

/* By the agent, once: allocates the table of names. False if out of memory. */
bool files_begin(void);
/* Address of the word that points to the table of descriptors, a direct org.mdlagent.arch.snippet.PositionTable. */
uint64_t files_table(void);
/* Number of a name, such as "/File/etc/hosts", valid for the whole session; 0 if there is no room. */
int64_t files_intern(const char *name, int64_t length);
/* The same for a file, by its path. */
int64_t files_intern_path(const char *path);
/* The same for a socket, by its peer. accepted: leaves out the port. */
int64_t files_intern_peer(const void *address, int64_t length, int64_t accepted);
/* The struct mdl_string of a number. Its length is 0 until the name is stored. */
uint64_t files_name(int64_t number);
/* The highest possible number; numbers start at 1. */
int64_t files_capacity(void);
/* The highest number in use. Some numbers may be wasted and never get a name. */
int64_t files_taken(void);
/* Gives a descriptor a name if its entry in the table is still `was`. */
int64_t files_adopt(int64_t descriptor, int64_t was, int64_t number);
/* Sets the directory of relative paths. */
void files_enter(const char *directory);
/* Removes the names of all descriptors. */
void files_forget(void);

#endif
