/*
 * Who runs: the calling thread, and its process.
 *
 * An *agent thread* is the thread that the constructor starts and every thread that it or one of its offspring creates: the
 * JVM's. All others are application threads.
 */
#ifndef MDL_SELF_H
#define MDL_SELF_H

#include "os/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The word that generated code reads: the calling thread's block, NULL until it has one (record/thread.c). */
extern THREAD_LOCAL struct mdl_thread *mdl_self;
extern THREAD_LOCAL bool is_agent_thread;
/* What it was started with; 0 for a thread that nobody here has started. */
extern THREAD_LOCAL size_t self_stack_bytes;

/* The process that this memory belongs to: a vfork child runs in its parent's, and differs. 0 when the agent's threads have
 * been removed: the application may not be allowed to ask for its number. */
extern pid_t process_pid;
/* The library was brought into a process that ran without it: libc's functions were called before there were wrappers. */
extern bool process_was_attached;
/* The application may have forbidden itself system calls. From now on none is made on its threads that it does not make. */
extern _Atomic bool process_is_confined;
extern _Atomic bool process_exiting;

#endif
