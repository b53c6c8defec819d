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

#include <langinfo.h>
#include <limits.h>
#include <link.h>
#include <mdl/api.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <x86intrin.h>

#define EXPORT __attribute__((visibility("default")))
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

/* The word that generated code reads: the calling thread's block, NULL until it has one. */
extern THREAD_LOCAL struct mdl_thread *mdl_self;
extern THREAD_LOCAL bool is_agent_thread;

/* ---- options.c */

struct options {
  unsigned start_delay_millis;
  bool wait;
  char state_home[PATH_MAX];
  char home[PATH_MAX];
  char config[PATH_MAX]; /* MDL_CONFIG */
  char session[PATH_MAX]; /* absolute, "" when not given */
  char text[4096];        /* MDL_OPTIONS as the process started with it */
  char jvm_extra[4096];   /* MDL_JVM_EXTRA: further JVM options, for making the AOT cache */
};
extern struct options options;

/* Takes what it needs, and all that the agent ever has, from `environment` itself: an application may export a getenv of its
 * own, and may overwrite the strings later. */
void options_read(char *const *environment);

/* ---- next.c */

struct next {
  int (*sigaction)(int, const struct sigaction *, struct sigaction *);
  void (*(*signal)(int, void (*)(int)))(int);
  void (*(*sysv_signal)(int, void (*)(int)))(int);
  void (*(*sigset)(int, void (*)(int)))(int);
  int (*siginterrupt)(int, int);
  int (*sigprocmask)(int, const sigset_t *, sigset_t *);
  int (*pthread_sigmask)(int, const sigset_t *, sigset_t *);
  int (*pthread_attr_setsigmask_np)(pthread_attr_t *, const sigset_t *);
  int (*timer_create)(clockid_t, struct sigevent *, timer_t *);
  int (*sigsuspend)(const sigset_t *);
  int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
  int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
  int (*pselect)(int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *);
  int (*epoll_pwait)(int, struct epoll_event *, int, int, const sigset_t *);
  int (*epoll_pwait2)(int, struct epoll_event *, int, const struct timespec *, const sigset_t *);
  int (*sigpending)(sigset_t *);
  int (*sigtimedwait)(const sigset_t *, siginfo_t *, const struct timespec *);
  int (*sigwaitinfo)(const sigset_t *, siginfo_t *);
  int (*sigwait)(const sigset_t *, int *);
  int (*save_jump)(struct __jmp_buf_tag *, int);
  void (*jump)(struct __jmp_buf_tag *, int);
  void (*jump_checked)(struct __jmp_buf_tag *, int);
  int (*setcontext)(const ucontext_t *);
  int (*swapcontext)(ucontext_t *, const ucontext_t *);
  int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  int (*thrd_create)(thrd_t *, thrd_start_t, void *);
  void (*exit)(int);
  void (*quick_exit)(int);
  void (*_exit)(int);
  void (*abort)(void);
  int (*cxa_atexit)(void (*)(void *), void *, void *);
  char *(*getenv)(const char *);
  char *(*secure_getenv)(const char *);
  char *(*setlocale)(int, const char *);
  char *(*nl_langinfo)(nl_item);
  void (*tzset)(void);
  struct tm *(*localtime_r)(const time_t *, struct tm *);
  struct tm *(*gmtime_r)(const time_t *, struct tm *);
  int (*setrlimit)(__rlimit_resource_t, const struct rlimit *);
  int (*fflush)(FILE *);
  void *(*dlopen)(const char *, int);
  int (*dl_find_object)(void *, struct dl_find_object *);
  int (*backtrace)(void **, int);
  int (*dl_iterate_phdr)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
  int (*dlclose)(void *);
};

extern struct next next_table;
void next_resolve(void);

/* Usable before the constructor has run: other libraries' constructors come first. */
static inline const struct next *next(void) {
  if (__builtin_expect(next_table.sigaction == NULL, 0)) {
    next_resolve();
  }
  return &next_table;
}

/* ---- process.c */

/* The process that this memory belongs to: a vfork child runs in its parent's, and differs. 0 when the agent's threads have
 * been removed: the application may not be allowed to ask for its number. */
extern pid_t process_pid;
extern _Atomic bool process_exiting;

void process_start(void);
int process_start_agent_thread(void *(*routine)(void *));
/* The calling thread gets thread_ended() at its end, and with it record_detach(). */
void process_watch_thread(void);
bool process_is_agent_thread(int tid); /* one that is ending, too */
uint64_t process_agent_cpu_nanos(void);
/* How large the calling thread's stack may be. */
uint64_t process_stack_bytes(void);
/* Forked processes that live on must not have probes that nobody can switch off. Async-signal-safe. */
void process_dies(void);
bool process_has_agent_threads(void);
bool process_has_one_application_thread(void);
/* For good, where they hold no lock; waits for that up to 2 s. False when some are still there. */
bool process_remove_agent_threads(void);
/* Does not return when the calling thread, interrupted there, is to be removed and can be. */
void process_leave_agent_thread(const ucontext_t *context);
/* Never goes on: what an agent thread does instead of ending the process. */
_Noreturn void process_park(void);
/* The loader's state, and whatever else a forked child could find half changed, is changed with the gate held. */
void process_gate_lock(void);
void process_gate_unlock(void);

uint64_t clock_nanos(clockid_t clock);
/* True when woken, false when the time is over; returns at once when *word != value. */
bool futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanos);
void futex_wake(_Atomic uint32_t *word);

/* ---- signals.c */

/* All but SIGTRAP: what is called meanwhile may be the application's, as malloc, and have trapping bytes. */
void signals_block_all_but_trap(sigset_t *before);
/* All but those that the JVM or a debugger needs. */
void signals_block_for_agent(sigset_t *before);
void signals_restore(const sigset_t *before);
/* What agent threads block, whatever they ask for. */
uint64_t signals_blocked_by_agent(void);
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

/* libc's syscall() without a look at what is asked for. */
long raw_syscall(long number, ...);
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

/* ---- session.c */

extern struct mdl_header *session; /* NULL until there is one */
extern const char *session_memory_root;
extern const char *session_last_resort;

struct instant {
  uint64_t tsc, mono_nanos, real_nanos;
};
struct instant instant_now(void);

/* NULL when the session exists, else why it does not. */
const char *session_create(const struct instant *start);
/* In a forked child that has an agent of its own. */
void session_abandon(void);
uint64_t session_allocate(uint64_t bytes);
/* What the slot leads to, made if need be, 0 when there is no memory. A handler may make it meanwhile: its memory stays. */
uint64_t session_allocate_once(uint64_t *slot, uint64_t bytes);
void session_renew_clocks(void);
/* Only what it costs no system call to know. */
void session_renew_now(void);
void session_ended(int status);

/* ---- log.c */

extern char log_path[PATH_MAX];

/* One line from strings, the last of them NULL. Lines wait until log_open(). Async-signal-safe. */
/* Without a look at the environment, which libc's gmtime_r() searches for the time zone. For times since 1970. */
struct tm utc_of(time_t seconds);

void log_line(const char *part, ...) __attribute__((sentinel));
void log_open(const char *directory);
struct decimal {
  char text[24];
};
struct decimal decimal(int64_t value);

/* ---- start.c */

/* What the library's constructor does. It stands in constructor.c alone, which unit tests leave out. */
void agent_construct(char *const *environment);
/* Only the first call does something: every site off, one line in the log. The detail may be NULL. */
void agent_died(const char *why, const char *detail);
/* Its process ends: every site off, for those who live on. */
void agent_retires(void);
/* For good, with its threads: the application wants to do what it could not do with them. */
void agent_leaves(const char *what);
bool agent_is_dead(void);
extern bool agent_has_own_descriptors;
void agent_ready(void);
/* In a forked child: true when it gets an agent of its own. */
bool agent_forked(void);
extern char library_directory[PATH_MAX];
/* A variable for the tests' sake. */
extern uint64_t agent_watch_nanos;

/* ---- jvm.c */

/* Returns when there is no JVM, or Java has returned: why. */
void jvm_run(const struct mdl_api *api);

/* ---- api.c */

const struct mdl_api *api_table(void);

/* ---- code.c */

/* In each process that begins a session, before it is there. */
void code_start(void);
int64_t code_copy(uint64_t start, uint64_t length, uint64_t alias);
int64_t code_show(uint64_t start, uint64_t length, uint64_t alias);
/* Of the first copy. */
uint64_t code_text_alias(void);
int64_t code_map(uint64_t at, uint64_t length);
int64_t code_sync_cores(void);
int64_t code_toggle(const uint32_t *sites, int64_t n, int64_t on);
void code_switch_all_off(void);
bool code_is_recording(const struct mdl_site *site);
bool code_has_snippets(const struct mdl_site *site);
/* A client or snippets. */
bool code_has_user(const struct mdl_site *site);
/* Steps 1 and 2 for the recorder; step 2; what stands between; step 3. */
void code_record(struct mdl_site *site, bool on);
void code_follow(const struct mdl_site *site);
void code_fence(void);
void code_confirm(const struct mdl_site *site);
void code_replace(uint64_t alias, uint64_t mask, uint64_t value);
void code_replace_all(const uint64_t (*stores)[3], int64_t n);
uint64_t code_wait_until(uint64_t tsc);

/* The only stores to code: one instruction of 1, 2, 4 or 8 bytes, whatever the alignment. */
static inline void code_store(uint64_t alias, uint64_t value, int64_t size) {
  switch (size) {
    case 1: __asm__ volatile("movb %b1, (%0)" : : "r"(alias), "q"(value) : "memory"); break;
    case 2: __asm__ volatile("movw %w1, (%0)" : : "r"(alias), "r"(value) : "memory"); break;
    case 4: __asm__ volatile("movl %k1, (%0)" : : "r"(alias), "r"(value) : "memory"); break;
    case 8: __asm__ volatile("movq %1, (%0)" : : "r"(alias), "r"(value) : "memory"); break;
    default: break;
  }
}

/* ---- libraries.c */

/* From now on the agent follows what is opened: whoever waits for it does not wait in vain. */
void libraries_begin(void);
int64_t libraries_counters(void);
int64_t libraries_list(struct mdl_image *out, int64_t capacity);
int64_t libraries_hold(void);
void libraries_release(void);
int64_t libraries_show(const uint64_t (*triples)[3], int64_t n);
int64_t libraries_await(uint64_t nanos);
/* Whoever is in libraries_await returns: there is something else to do. */
void libraries_interrupt(void);
void libraries_followed(uint64_t opened);
/* In a forked child: no agent follows what it opens. */
void libraries_forked(void);

/* ---- control.c */

/* In the process that has the agent, which has descriptors of its own. */
void control_start(void);
/* Removes the socket, if it is still what has its path. */
void control_end(void);
/* No system call is made for the socket's end. */
void control_leave_socket(void);
bool control_has_request(void);
/* See api.h. */
int64_t control_take(char *out);
void control_answer(const char *text, int64_t length);
extern uint64_t control_patience_nanos;

/* ---- events.c: see api.h */

int64_t events_open(uint64_t event, int64_t tid, int64_t reach);
int64_t events_read(int64_t descriptor);
void events_close(int64_t descriptor);
int64_t events_threads(int64_t pid, uint32_t *out, int64_t capacity);

/* ---- imports.c: see api.h */

uint64_t imports_find(const char *symbol, const char *version);
int64_t imports_exchange(const uint64_t *change, int64_t is_read_only);

/* ---- trap.c */

/* Takes SIGTRAP. */
int64_t trap_catch(void);
/* In its handler, at INT3: false when the byte is not ours. */
bool trap_redirect(ucontext_t *context);

/* ---- family.c */

extern struct mdl_process *family_self; /* NULL when there is no record left for it */

/* Locks that whoever finds their holder gone can take. owner_take() does not wait. */
void owner_create(uint64_t *owner);
bool owner_take(uint64_t *owner);
void owner_release(uint64_t *owner);

/* In the process that has the agent, by a thread that lives as long as it. */
void family_begin(void);
bool family_has_agent(void);
/* In another one: whether that process has ended. */
bool family_agent_is_gone(void);
void family_forked(pid_t parent);
/* The calling thread ends and others of its process do not. */
void family_leader_ends(void);
void family_leave(int status);
/* Notes who has ended without a word. */
void family_sweep(void);
/* Of forked processes. */
uint64_t family_cpu_nanos(void);

/* ---- record.c */

/* False when one of the process's blocks cannot be had at this moment. */
bool record_disown(const struct mdl_process *process);
void record_mute_thread(void);
/* A stack is in use that may lie inside the calling thread's own, where no order of addresses says what is gone then. */
void record_other_stack(const void *low);
void record_detach(void);
void record_entry_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_exit_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_slow(struct mdl_function *function, uint64_t ticks, uint64_t self);
void record_sample_entry_slow(struct mdl_site *site, uint64_t function, uint64_t key);
void record_sample_exit_slow(struct mdl_site *site, uint64_t function, uint64_t key, uint64_t call_site);
void record_expire_entry(struct mdl_site *site);
void record_expire_exit(struct mdl_site *site);
int64_t record_arm(const uint32_t *functions, const uint64_t *longest_ticks, int64_t n);
int64_t record_program_cpu_nanos(void);
int64_t record_disarm(const uint32_t *functions, int64_t n);

/* ---- client.c */

/* mdl_thread.in_client of threads that never call clients. */
#define NO_CLIENTS (~0u)

/* Calls the site's client, if it has one and the thread is in none. Keeps errno. */
void client_call(const struct mdl_site *site, uint64_t function);
/* The client to attach for a probe that only counts. */
void client_count(uint32_t probe, void *function);
/* See api.h, attach. */
int64_t client_attach(const uint32_t *probes, int64_t n, uint64_t function);
/* See api.h. */
int64_t client_snippets(uint32_t probe, uint64_t code);
/* See api.h, forget_clients. */
void client_forget(const uint32_t *probes, int64_t n);
/* header.site_count has grown, the agent is ready, or it is dead. */
void client_look_again(void);

/* ---- unwind.c */

/* See api.h, trampolines. */
int64_t unwind_trampolines(uint64_t start, uint64_t length, uint64_t header);

/* ---- decode.c, demangle.c */

int64_t decode_lengths(uint64_t code, int64_t length, uint8_t *lengths);
int64_t decode_one(uint64_t code, int64_t length, struct mdl_instruction *out);
int64_t demangle(const char *symbol, char *out, int64_t capacity);

/* ---- libgcc.c */

/* A function of the unwinder that the process uses, or NULL. */
void *unwinder_symbol(const char *name);

#endif
