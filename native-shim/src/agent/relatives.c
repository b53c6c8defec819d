/*
 * A process that was forked before the probes were in place has the program's original text and none of the agent's later
 * mappings. A dedicated thread waits for the agent, then maps the same files at the same addresses: the session, the code
 * memory, last the copies of text. From then on the process is like one that was forked later, and the thread ends.
 *
 * The files have no name, or one that the process may not open any more. So it opens the agent's descriptors of them in
 * /proc. If one of the addresses is taken in the process, it stays without probes.
 *
 * Assumes    A1 the kernel lets a process open the descriptors of another only if it may do whatever that one may: ptrace(2),
 *               PTRACE_MODE_READ_FSCREDS
 * Guarantees G1 a process that the family's session and code would give rights gets neither: by A1
 *            G2 nor does a process map what others have made: a file is taken only if it is the one that the agent noted in
 *               memory which the family alone has, and belongs to the user that the process is
 */
#include "agent/relatives.h"

#include "agent/descriptors.h"
#include "agent/exit.h"
#include "code/code.h"
#include "code/entry_jumps.h"
#include "code/libraries.h"
#include "code/unwind.h"
#include "os/gate.h"
#include "os/self.h"
#include "os/sys.h"
#include "os/wrapper.h"
#include "process/dispositions.h"
#include "process/threads.h"
#include "record/block_counts.h"
#include "record/calls.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/log.h"
#include "session/session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const uint64_t LOOK_NANOS = 5000000u;
/* Maximum wait for a living parent that never takes the agent. */
static const uint64_t PARENT_NANOS_MAX = 1000000000u;
/* Other processes may open the session for writing concurrently, and each restores the mode. */
enum { TRIES = 1000 };
static const uint64_t TRY_NANOS = 1000000u;

/* ---- the agent's side */

static bool note_file(int which, int descriptor) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) < 0) {
    return false;
  }
  kin->file[which] = (struct kin_file){descriptor, status.st_dev, status.st_ino};
  return true;
}

/* If the agent shares the program's descriptors, the program may close them. */
static bool show_files(void) {
  char link[64] = "";
  return agent_has_own_descriptors && readlink("/proc/thread-self", link, sizeof link - 1) > 0 &&
         sscanf(link, "%" SCNu32 "/task/%" SCNu32, &kin->pid, &kin->tid) == 2 &&
         note_file(KIN_SESSION, session_open_for_reading()) && note_file(KIN_CODE_MEMORY, code_file());
}

void relatives_begin(void) {
  if (!kin) {
    return;
  }
  session_tell();
  code_tell();
  atomic_store(&kin_has_probes, true);
  bool some = atomic_load(&kin->early) > 0;
  if (some) {
    jumps_before_fork();
    __atomic_fetch_add(&session->forks, 1, __ATOMIC_SEQ_CST); /* copies of text are shared from now on */
  }
  if (some && (atomic_load(&kin->pieces) > KIN_PIECES || !show_files())) {
    log_line("processes that were forked before the probes were in place have none", NULL);
    kin_go_without(atomic_load(&kin->early));
    kin_agent_failed();
    return;
  }
  atomic_store(&kin->state, KIN_READY);
}

/* ---- a relative's */

static int open_file(int which, int flags) {
  const struct kin_file *file = &kin->file[which];
  char path[96];
  struct stat status;
  snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/fd/%" PRId64, kin->pid, kin->tid, file->descriptor);
  int descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor >= 0 && (fstat(descriptor, &status) < 0 || status.st_dev != file->device || status.st_ino != file->inode ||
                          status.st_uid != geteuid() || !S_ISREG(status.st_mode))) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

static int open_session(void) {
  int found = open_file(KIN_SESSION, O_RDONLY);
  int descriptor = -1;
  for (int i = 0; found >= 0 && descriptor < 0 && i < TRIES; i++) {
    if (i > 0) {
      nanosleep(&(struct timespec){.tv_nsec = (long)TRY_NANOS}, NULL);
    }
    descriptor = session_open_for_writing(found);
  }
  if (found >= 0) {
    close(found);
  }
  return descriptor;
}

static bool map_all(int session_file, int code, pid_t forker, const struct instant *start) {
  struct mdl_header *header = session_join(session_file);
  if (!header || !code_join(code)) {
    return false;
  }
  calls_start();
  unwind_join();
  __atomic_store_n(&session, header, __ATOMIC_RELEASE);
  if (!block_counts_join()) {
    return false;
  }
  if (!family_self) {
    family_joined(forker, start->real_nanos);
  }
  if (__atomic_load_n(&session->traps, __ATOMIC_ACQUIRE)) {
    signals_catch_traps();
  }
  log_open(session->directory);
  libraries_join(code);
  atomic_store(&kin_has_probes, true);
  return true;
}

/* With the gate held: a child forked meanwhile has all of it or nothing. The process also cannot give up rights meanwhile
 * and keep a descriptor. */
static bool join(pid_t forker, const struct instant *start) {
  bool joined = false;
  gate_lock();
  if (atomic_load(&kin->state) == KIN_READY) {
    int session_file = open_session();
    int code = open_file(KIN_CODE_MEMORY, O_RDWR);
    joined = session_file >= 0 && code >= 0 && map_all(session_file, code, forker, start);
    if (session_file >= 0) {
      close(session_file);
    }
    if (code >= 0) {
      close(code);
    }
  }
  gate_unlock();
  return joined;
}

bool relatives_await_agent(pid_t forker, int thread_of_forker, const struct instant *start) {
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + PARENT_NANOS_MAX;
  while (!atomic_load(&process_exiting)) {
    switch (atomic_load(&kin->state)) {
      case KIN_READY:
        if (join(forker, start)) {
          return false;
        }
        if (kin_take_agent()) {
          return true;
        }
        if (atomic_load(&kin->state) == KIN_READY) {
          kin_go_without(1);
          return false;
        }
        break; /* it has other kin now */
      case KIN_OVER: return false;
      default: break;
    }
    bool has_elder = forker && getppid() == forker && !wrapper_has_executed(forker, thread_of_forker);
    bool is_late = clock_nanos(CLOCK_MONOTONIC) >= deadline;
    if (has_elder && is_late && atomic_load(&kin_is_separate)) {
      return false; /* a worker under another user: it may not use its parent's agent, and one agent per worker is too many */
    }
    if ((!has_elder || is_late) && kin_take_agent()) {
      return true;
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)LOOK_NANOS}, NULL);
    exit_with_application();
  }
  return false;
}
