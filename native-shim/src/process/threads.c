/*
 * Threads as the application sees them. Agent threads are hidden, and do not keep the process alive.
 */
#include "process/threads.h"

#include "os/agent_stacks.h"
#include "os/agent_threads.h"
#include "os/arenas.h"
#include "os/attributes.h"
#include "os/guest.h"
#include "os/next.h"
#include "os/process_stat.h"
#include "os/self.h"
#include "os/sys.h"
#include "os/tasks.h"
#include "os/thread_end.h"
#include "process/masks.h"
#include "record/thread.h"
#include "session/apart.h"
#include "session/family.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int application_threads = 1;
static _Atomic bool counting; /* threads */
void (*_Atomic threads_when_created)(void);

static void agent_thread_begins(void) {
  is_agent_thread = true;
  guest_settle();
  agent_stack_enter();
  masks_unblock_after_birth();
  record_mute_thread();
  agent_threads_enter();
}

/* ---- the end of threads, and of a process whose main has called pthread_exit */

struct tasks {
  int listed;
  int of_application; /* without main */
};

static bool count_task(pid_t process, pid_t thread, void *result) {
  (void)process;
  struct tasks *tasks = result;
  tasks->listed++;
  tasks->of_application += thread != getpid() && !agent_threads_have_running(thread);
  return true;
}

/* This process's threads according to the kernel; empty if the list cannot be read. */
static struct tasks list_tasks(void) {
  struct tasks tasks = {0, 0};
  tasks_each(0, count_task, &tasks);
  return tasks;
}

/* If threads began before counting, the kernel's list is used. */
bool threads_are_single(void) {
  return process_was_attached ? list_tasks().of_application == 0 : atomic_load(&application_threads) == 1;
}

/* Unknown threads of this process: neither counted as the application's, nor the agent's. */
static int unknown_threads(void) {
  int leader = raw_syscall(SYS_gettid) != getpid(); /* main is still listed as a zombie */
  return list_tasks().listed - atomic_load(&agent_threads) - leader - 1;
}

/*
 * glibc calls exit(0) when the process's last thread ends. It counts the agent's threads too, so that would never happen.
 * Threads that libc creates for itself (timers, asynchronous I/O) are not counted here, but keep a process alive without us;
 * they are the unknown threads.
 */
static void last_application_thread_ended(void) {
  for (int tries = 0; tries < 20; tries++) {
    if (unknown_threads() <= 0) {
      process_exits();
      next()->exit(0);
    }
    /* The kernel still lists an agent thread briefly after its end. */
    nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
  }
}

static void thread_ended(void) {
  if (is_agent_thread) {
    agent_stack_leave();
    arenas_end_own();
    agent_threads_leave();
    return;
  }
  record_detach();
  if (process_is_confined) {
    return; /* libc counts all of the threads; no system call */
  }
  family_leader_ends();
  apart_leader_ends();
  if (atomic_fetch_sub(&application_threads, 1) == 1) {
    last_application_thread_ended();
  }
}

/*
 * A thread that ends by a direct exit system call notifies neither libc nor us. The kernel keeps the process alive while
 * other threads exist; its status is then main's.
 *
 * The list is cut short if the thread being listed ends. So it is trusted only if its length equals the kernel's thread
 * count: ending a live process is worse than keeping a dead one.
 */
int threads_status_of_ended(void) {
  enum { STATE = 3, THREADS = 20, EXIT_CODE = 52 };
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid()); /* main's; the process's own file has sums */
  read_text(path, text, sizeof text);
  const char *exit_code = process_stat_field(text, EXIT_CODE);
  if (!*exit_code || *process_stat_field(text, STATE) != 'Z') {
    return -1;
  }
  struct tasks tasks = list_tasks();
  bool over = tasks.of_application == 0 && tasks.listed == atoi(process_stat_field(text, THREADS));
  return over ? atoi(exit_code) >> 8 & 0xff : -1;
}

/* ---- creation of threads */

struct beginning {
  union {
    void *(*routine)(void *);
    int (*c11_routine)(void *);
  };
  void *argument;
  bool by_agent;
  uint64_t traps_blocked;
  size_t stack_bytes;
};

/* Not from malloc(): a thread that frees memory gets an arena, 64 MiB of address space, even if it allocates nothing. */
enum { BEGINNINGS = 64 };
static struct {
  _Atomic bool taken;
  struct beginning beginning;
} beginnings[BEGINNINGS];

void threads_forked(void) {
  atomic_store(&application_threads, 1);
  for (int i = 0; i < BEGINNINGS; i++) {
    atomic_store_explicit(&beginnings[i].taken, false, memory_order_relaxed);
  }
}

static struct beginning *take_beginning(void) {
  for (int i = 0; i < BEGINNINGS; i++) {
    if (!atomic_load_explicit(&beginnings[i].taken, memory_order_relaxed) && !atomic_exchange(&beginnings[i].taken, true)) {
      return &beginnings[i].beginning;
    }
  }
  struct record_pause pause = record_pause();
  struct beginning *more = malloc(sizeof *more);
  record_resume(&pause);
  return more;
}

static void give_back(struct beginning *beginning) {
  for (int i = 0; i < BEGINNINGS; i++) {
    if (beginning == &beginnings[i].beginning) {
      atomic_store(&beginnings[i].taken, false);
      return;
    }
  }
  struct record_pause pause = record_pause();
  free(beginning);
  record_resume(&pause);
}

static struct beginning begin(void *pointer) {
  struct beginning beginning = *(struct beginning *)pointer;
  if (beginning.by_agent) {
    agent_thread_begins(); /* first: marks it as an agent thread before it can take a signal */
  }
  give_back(pointer);
  if (beginning.by_agent) {
    arenas_begin_own();
  }
  self_stack_bytes = beginning.stack_bytes;
  traps_blocked = beginning.traps_blocked;
  thread_end_watch();
  if (record_from_birth && !beginning.by_agent) {
    record_thread();
  }
  return beginning;
}

static void *run(void *pointer) {
  struct beginning beginning = begin(pointer);
  return beginning.routine(beginning.argument);
}

static int run_c11(void *pointer) {
  struct beginning beginning = begin(pointer);
  return beginning.c11_routine(beginning.argument);
}

static size_t stack_bytes_of(const pthread_attr_t *attributes) {
  pthread_attr_t defaults;
  size_t bytes = 0;
  if (attributes) {
    pthread_attr_getstacksize(attributes, &bytes);
  } else {
    pthread_attr_init(&defaults);
    pthread_attr_getstacksize(&defaults, &bytes);
    pthread_attr_destroy(&defaults);
  }
  return bytes;
}

static struct beginning *prepare(const pthread_attr_t *attributes, void *argument) {
  struct record_pause pause = record_pause();
  struct beginning *beginning = take_beginning();
  if (beginning) {
    beginning->argument = argument;
    beginning->by_agent = is_agent_thread;
    beginning->traps_blocked = traps_blocked;
    beginning->stack_bytes = stack_bytes_of(attributes);
    atomic_fetch_add(is_agent_thread ? &agent_threads : &application_threads, 1);
  }
  record_resume(&pause);
  return beginning;
}

static void take_back(struct beginning *beginning) {
  atomic_fetch_sub(beginning->by_agent ? &agent_threads : &application_threads, 1);
  give_back(beginning);
}

static int create_agent_thread(pthread_t *thread, pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
  int error = masks_block_at_birth(attributes);
  if (error) {
    return error;
  }
  bool given = agent_stack_give(attributes);
  error = next()->pthread_create(thread, attributes, routine, argument);
  if (error && given) {
    agent_stack_take_back(attributes);
  }
  return error;
}

static int create_for_agent(pthread_t *thread, const pthread_attr_t *attributes, struct beginning *beginning) {
  pthread_attr_t defaults;
  pthread_attr_init(&defaults);
  pthread_attr_t *changed = attributes ? (pthread_attr_t *)attributes : &defaults; /* libjvm makes them for this call */
  int error = create_agent_thread(thread, changed, run, beginning);
  pthread_attr_destroy(&defaults);
  return error;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *argument) {
  if (!atomic_load(&counting)) {
    return next()->pthread_create(thread, attributes, routine, argument);
  }
  struct beginning *beginning = prepare(attributes, argument);
  if (!beginning) {
    return EAGAIN;
  }
  beginning->routine = routine;
  int error = beginning->by_agent ? create_for_agent(thread, attributes, beginning)
                                  : next()->pthread_create(thread, attributes, run, beginning);
  if (error) {
    take_back(beginning);
  } else if (!is_agent_thread && atomic_load(&threads_when_created)) {
    atomic_load(&threads_when_created)();
  }
  return error;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument) {
  if (!atomic_load(&counting)) {
    return next()->thrd_create(thread, routine, argument);
  }
  struct beginning *beginning = prepare(NULL, argument);
  if (!beginning) {
    return thrd_nomem;
  }
  beginning->c11_routine = routine;
  int error = next()->thrd_create(thread, run_c11, beginning);
  if (error != thrd_success) {
    take_back(beginning);
  }
  return error;
}

static void *run_for_agent(void *routine) {
  agent_thread_begins();
  thread_end_watch();
  return ((void *(*)(void *))routine)(NULL);
}

/* Without malloc(): to free it, the thread would need its own arena. */
int threads_start_agent(void *(*routine)(void *)) {
  enum { STACK = 1 << 20 };
  pthread_attr_t attributes;
  pthread_t thread;
  atomic_fetch_add(&agent_threads, 1);
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, STACK);
  int error = create_agent_thread(&thread, &attributes, run_for_agent, (void *)routine);
  pthread_attr_destroy(&attributes);
  if (error) {
    atomic_fetch_sub(&agent_threads, 1);
  }
  return error;
}

void threads_start(void) {
  if (process_was_attached) {
    atomic_store(&application_threads, list_tasks().of_application + 1); /* without the calling thread */
  }
  if (thread_end_start(thread_ended)) {
    atomic_store(&counting, true);
    thread_end_watch();
  }
}
