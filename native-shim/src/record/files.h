/*
 * Which file each descriptor of this process stands for: what `fileOf` of MDL tells.
 *
 * Assumes
 *   A1 snippets at functions that open, duplicate and close descriptors call files_note()
 *   A2 a path or an address with which such a function has succeeded can be read: the kernel just has
 * Guarantees
 *   G1 a descriptor has the number of the name that it was opened by, or a negative number, of which each is given once
 *   G2 a name has one number in all processes of the session, and a number one name
 * Progress
 *   P1 no lock, no system call, no memory taken: whoever comes second finds what the first has written, or writes its own
 * What does not fit, or cannot be told for certain (".." behind a link, another directory of the process), has no name.
 */
#ifndef MDL_FILES_H
#define MDL_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* What a function has done, or is about to do. Java's side is org.mdlagent.runtime.metric.OpenedFiles. */
enum file_event {
  FILE_OPENED = 0,            /* arguments: path */
  FILE_OPENED_AT = 1,         /* descriptor of a directory, path */
  FILE_STREAM_OPENED = 2,     /* path; the result is a FILE * */
  FILE_DIRECTORY_OPENED = 3,  /* path; the result is a DIR * */
  FILE_MADE = 4,              /* a descriptor without a name */
  FILE_PAIR_MADE = 5,         /* where two of them stand */
  FILE_DUPLICATED = 6,        /* the descriptor */
  FILE_CONTROLLED = 7,        /* fcntl: descriptor, command */
  FILE_CONNECTED = 8,         /* descriptor, address, its length */
  FILE_ACCEPTED = 9,          /* listening descriptor, address or NULL, where its length stands */
  FILE_DIRECTORY_ENTERED = 10, /* path */
  FILE_DIRECTORY_LEFT = 11,   /* for another that is not known */
  FILE_CLOSES = 12,           /* descriptor */
  FILE_STREAM_CLOSES = 13,    /* FILE * */
  FILE_DIRECTORY_CLOSES = 14, /* DIR * */
  FILE_RANGE_CLOSES = 15,     /* the first, the last */
};

/* known: whether a, b and c are what this call was made with. errno is as the function has left it. */
uint64_t files_note(uint64_t event, uint64_t known, uint64_t a, uint64_t b, uint64_t c, uint64_t result);

/* For the agent. Makes room for names, once: false when the session has none. */
bool files_begin(void);
/* A word that leads to the table of descriptors, which is one of org.mdlagent.arch.snippet.PositionTable's, a direct one. */
uint64_t files_table(void);
/* Number of a name, such as "/File/etc/hosts", as long as the session; 0 when there is no room. */
int64_t files_intern(const char *name, int64_t length);
/* The same of a file by its path. */
int64_t files_intern_path(const char *path);
/* The same of a socket by its peer. accepted: the port is of no interest. */
int64_t files_intern_peer(const void *address, int64_t length, int64_t accepted);
/* The struct mdl_string of a number. Its length is 0 before the name is there. */
uint64_t files_name(int64_t number);
/* Numbers that there can be: from 1 to that. */
int64_t files_capacity(void);
/* The highest that has been given. One may have been wasted, and never has a name. */
int64_t files_taken(void);
/* Gives a descriptor a name if it still has none: if its entry in the table is what it was. */
int64_t files_adopt(int64_t descriptor, int64_t was, int64_t number);
/* Where relative paths begin. */
void files_enter(const char *directory);
/* All descriptors have no name any more. */
void files_forget(void);

#endif
