/*
 * Identity of the calling thread and its process.
 *
 * An *agent thread* is the thread that the constructor starts, and every thread that an agent thread creates: the JVM's. All
 * others are application threads.
 */
#ifndef MDL_SELF_H
#define MDL_SELF_H

#include "os/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The calling thread's block, NULL until it has one (record/thread.c). Generated code reads this word. */
extern THREAD_LOCAL struct mdl_thread *mdl_self;
extern THREAD_LOCAL bool is_agent_thread;
/* Stack size that the thread was started with; 0 if the shim did not start it. */
extern THREAD_LOCAL size_t self_stack_bytes;

/* The process that this memory belongs to. A vfork child has another id, but runs in its parent's memory. 0 once the
 * agent's threads have been removed, because a confined application may not be allowed getpid(). */
extern pid_t process_pid;
/* The library was attached to a running process: libc was called before the wrappers existed. */
extern bool process_was_attached;
/* The application may have restricted its system calls (seccomp). From now on the shim adds none on application threads. */
extern _Atomic bool process_is_confined;
extern _Atomic bool process_exiting;
/* Notes that the calling thread is about to end the process: not in a vfork child. */
void process_exits(void);

#endif
