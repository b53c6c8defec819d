/*
 * What the shim's files share. One file per concern:
 *
 *   start.c    the agent thread, a main that waits, the agent's death, and who notices it
 *   options.c  MDL_OPTIONS and properties files
 *   next.c     the functions that the interposed ones stand in front of
 *   process.c  exit, fork, threads, and what the agent's threads must not do to the application
 *   alone.c    what the kernel lets a process with one thread do alone
 *   signals.c  dispositions: the application's and the JVM's, side by side
 *   masks.c    SIGTRAP stays out of the application's masks; those of agent threads
 *   session.c  the session's directory and file, and its memory
 *   log.c      the session's log
 *   libraries.c what the application opens and closes meanwhile
 *   jvm.c      creation of the JVM and the call into Java
 *   api.c      the table that Java gets
 *   code.c     mappings of code, stores to it, who wants a site on
 *   control.c  requests of the command line
 *   client.c   fastinst.h: the application's own functions at probes
 *   record.c   the calling thread's block; recording off the fast path
 *   snippets.c values of threads, which generated code writes
 *   family.c   the processes of a session, and what becomes of what those held that have ended
 *   decode.c   instruction lengths, by Zydis
 *   trap.c     what a thread does that meets a trapping byte
 *   demangle.c C++ names
 *   libgcc.c   the unwinder, which is not linked
 *
 * An *agent thread* is the thread that the constructor starts and every thread that it or one of its
 * offspring creates: the JVM's. All others are application threads.
 */
#ifndef MDL_SHIM_H
#define MDL_SHIM_H

#include "agent/begin.h"
#include "agent/control.h"
#include "agent/sleep.h"
#include "code/code.h"
#include "code/death.h"
#include "code/decode.h"
#include "code/demangle.h"
#include "code/imports.h"
#include "code/libraries.h"
#include "code/trap.h"
#include "code/unwind.h"
#include "os/agent_threads.h"
#include "os/attributes.h"
#include "os/gate.h"
#include "os/libgcc.h"
#include "os/library.h"
#include "os/next.h"
#include "os/self.h"
#include "os/signal_block.h"
#include "os/stack.h"
#include "os/sys.h"
#include "os/thread_end.h"
#include "record/client.h"
#include "record/frames.h"
#include "record/program_cpu.h"
#include "record/record.h"
#include "record/snippets.h"
#include "record/thread.h"
#include "record/windows.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/file.h"
#include "session/life.h"
#include "session/log.h"
#include "session/options.h"
#include "session/owner.h"
#include "session/session.h"
#include "session/waiters.h"

#include <limits.h>
#include <mdl/api.h>
#include <stdatomic.h>
#include <stdio.h>
#include <ucontext.h>
#include <x86intrin.h>

/* ---- process.c */

void process_start(void);
int process_start_agent_thread(void *(*routine)(void *));
bool process_has_one_application_thread(void);
/* For good, where they hold no lock; waits for that up to 2 s. False when some are still there. */
bool process_remove_agent_threads(void);

/* ---- signals.c */

/* In a forked child, which has no JVM: the application's own dispositions again, but for SIGTRAP. */
void signals_forked(void);
/* From now on dispatch() has SIGTRAP: 0, or -errno. */
int64_t signals_take_trap(void);
/* From now on SIGILL interrupts waits of agent threads, and none is resumed. */
void signals_interrupt_agent(void);
/* No agent thread is left: the kernel has the application's actions. */
void signals_give_back(void);
/* By the application. */
bool signals_trap_is_handled(void);
void signals_call(const struct sigaction *action, int signal, siginfo_t *info, void *context);
struct kernel_action;
long signals_raw_sigaction(int signal, const struct kernel_action *action, struct kernel_action *old);

/* ---- masks.c */

void masks_start(void);
/* In a forked child: no signal waits. */
void masks_forked(void);
/* As the calling thread of the application believes. */
bool masks_trap_blocked(void);
void masks_inherit(bool blocked);
/* The mask with which a thread of the agent begins: nobody sends it a SIGTRAP before it is known for one. 0 or an error. */
int masks_block_at_birth(pthread_attr_t *attributes);
void masks_unblock_after_birth(void);
/* Until the application unblocks SIGTRAP. */
void masks_hold_back(const siginfo_t *info);
/* Calls the application's handler with the mask that the action asks for. */
void masks_call_trap_handler(const struct sigaction *action, siginfo_t *info, ucontext_t *context);
/* SIGTRAP to the calling thread. */
void masks_queue_to_self(siginfo_t *info);

/* ---- alone.c */

void alone_before_system_call(long number, long first, long second);

/* ---- start.c */

/* What the library's constructor does. It stands in constructor.c alone, which unit tests leave out. */
void agent_construct(char *const *environment);
/* For good, with its threads: the application wants to do what it could not do with them. */
void agent_leaves(const char *what);
extern bool agent_has_own_descriptors;
void agent_ready(void);
/* In a forked child: true when it gets an agent of its own. */
bool agent_forked(void);
/* A variable for the tests' sake. */
extern uint64_t agent_watch_nanos;

/* ---- jvm.c */

/* Returns when there is no JVM, or Java has returned: why. */
void jvm_run(const struct mdl_api *api);

/* ---- api.c */

const struct mdl_api *api_table(void);

/* ---- events.c: see api.h */

int64_t events_open(uint64_t event, int64_t tid, int64_t reach);
int64_t events_read(int64_t descriptor);
void events_close(int64_t descriptor);
int64_t events_threads(int64_t pid, uint32_t *out, int64_t capacity);

#endif
