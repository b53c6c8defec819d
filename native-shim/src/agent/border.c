/*
 * The processes of a family execute the same text and follow the same session, and each of them can write to both. So each
 * process could make the others execute arbitrary code. That is no gain while all of them have the same rights. A process
 * that gives up rights permanently must not regain them through its relatives.
 *
 * Guarantees G1 when a call returns by which a process gives up rights or confines itself, no page of it is shared that another
 *               process executes, or takes addresses from; nor has it a descriptor by which it could map one
 *            G2 the others go on, as if it had been killed
 *            G3 it fails closed: without G1 the call is not made, and fails with ENOMEM
 *
 *   the process                                    its family
 *   1 it creates a file to record into, and maps
 *     it (session/apart.h)
 *   2 its stores by the alias of the text are its
 *     own (code_let_go)
 *   3 so are its stores to the session
 *     (session_go_apart)
 *   4 without a file: by a last mapping of the      takes its blocks and its record as those of a process that was
 *     shared session, it marks its locks as those   killed
 *     of a thread that has ended
 *   5 it forgets its kin, and unmaps that mapping
 *   6 it records into the file                      the agent reads the file, and adds to the process's blocks
 *   7 the call
 *
 * Its probes stay, and follow the agent's stores: its text is mapped privately, so a write of its own copies the page. The
 * report shows how many processes are not counted (the loss `apart`).
 *
 * Ids that the process can take back by itself do not count as given up: an attacker who controls the process can take them
 * back too.
 */
#include "agent/border.h"

#include "agent/start.h"
#include "code/code.h"
#include "os/attributes.h"
#include "os/gate.h"
#include "os/next.h"
#include "os/self.h"
#include "os/sys.h"
#include "session/apart.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/session.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { IDS = 3 };
#define UNCHANGED (~0u)

bool border_is_near(void) { return !is_agent_thread && process_pid && getpid() == process_pid; }

static bool go_apart(void) {
  int file = session_open_for_reading();
  int64_t shared;
  bool counted = apart_prepare();
  bool gone = code_let_go() && session_go_apart(file, &shared);
  if (file >= 0) {
    close(file);
  }
  if (gone) {
    family_goes_apart(shared, counted);
    session_let_go(shared);
  }
  if (counted) {
    (gone ? apart_enter : apart_abandon)();
  }
  return gone;
}

bool border_cross(void) {
  int error = errno;
  bool gated = gate_lock_soon(); /* so that a concurrent fork happens entirely before or after */
  if (!kin_are_left) {
    kin_are_left = !session || go_apart();
    kin_forget();
  }
  bool done = kin_are_left;
  if (gated) {
    gate_unlock();
  }
  errno = done ? error : ENOMEM;
  return done;
}

/* libc changes the ids of all threads, so the agent changes with its process. It stays unless other processes have its
 * probes. A process that waits for its family's agent waits for its own from now on. */
static bool leaves_family(void) {
  if (kin_has_agent() && session && family_has_children()) {
    return agent_leaves("ids, while forked processes have its probes") && border_cross();
  }
  if (session && !kin_has_agent()) {
    return border_cross();
  }
  gate_lock_soon();
  bool separate = kin_separate();
  gate_unlock();
  errno = separate ? errno : ENOMEM;
  return separate;
}

/* ---- ids */

static bool is_among(unsigned id, const unsigned ids[IDS]) { return id == ids[0] || id == ids[1] || id == ids[2]; }

static unsigned given(unsigned id, unsigned before) { return id == UNCHANGED ? before : id; }

/* The real, effective and saved id that the kernel would set. */
static void predict(long number, bool capable, const unsigned asked[IDS], const unsigned before[IDS], unsigned after[IDS]) {
  switch (number) {
    case SYS_setuid:
    case SYS_setgid:
      after[0] = capable ? asked[0] : before[0];
      after[1] = asked[0];
      after[2] = capable ? asked[0] : before[2];
      break;
    case SYS_setreuid:
    case SYS_setregid:
      after[0] = given(asked[0], before[0]);
      after[1] = given(asked[1], before[1]);
      after[2] = asked[0] != UNCHANGED || (asked[1] != UNCHANGED && asked[1] != before[0]) ? after[1] : before[2];
      break;
    default:
      for (int i = 0; i < IDS; i++) {
        after[i] = given(asked[i], before[i]);
      }
      break;
  }
}

static bool loses_some(const unsigned ids[IDS], const unsigned others[IDS]) {
  return !is_among(ids[0], others) || !is_among(ids[1], others) || !is_among(ids[2], others);
}

/*
 * A process that keeps root among its ids can restore its former ids; for groups, so can a process that keeps CAP_SETGID.
 * Without the capability the kernel allows only ids that the process already has.
 */
static bool gives_up_ids(long number, const unsigned asked[IDS]) {
  bool of_user = number == SYS_setuid || number == SYS_setreuid || number == SYS_setresuid;
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  raw_syscall(SYS_capget, &header, data);
  bool capable = data[0].effective >> (of_user ? CAP_SETUID : CAP_SETGID) & 1;
  bool may_return = !of_user && (data[0].permitted >> CAP_SETGID & 1);
  unsigned before[IDS], after[IDS];
  raw_syscall(of_user ? SYS_getresuid : SYS_getresgid, &before[0], &before[1], &before[2]);
  predict(number, capable, asked, before, after);
  bool stays_root = of_user && is_among(0, before) && is_among(0, after);
  return loses_some(before, after) && !may_return && !stays_root && (capable || !loses_some(after, before));
}

bool border_may_change_ids(long number, unsigned first, unsigned second, unsigned third) {
  const unsigned asked[IDS] = {first, second, third};
  int error = errno;
  if (!(session || kin) || process_is_confined || !border_is_near() || !gives_up_ids(number, asked)) {
    errno = error;
    return true;
  }
  return leaves_family();
}

EXPORT int setuid(uid_t id) { return border_may_change_ids(SYS_setuid, id, 0, 0) ? next()->setuid(id) : -1; }

EXPORT int setgid(gid_t id) { return border_may_change_ids(SYS_setgid, id, 0, 0) ? next()->setgid(id) : -1; }

EXPORT int seteuid(uid_t id) {
  return border_may_change_ids(SYS_setresuid, UNCHANGED, id, UNCHANGED) ? next()->seteuid(id) : -1;
}

EXPORT int setegid(gid_t id) {
  return border_may_change_ids(SYS_setresgid, UNCHANGED, id, UNCHANGED) ? next()->setegid(id) : -1;
}

EXPORT int setreuid(uid_t real, uid_t effective) {
  return border_may_change_ids(SYS_setreuid, real, effective, 0) ? next()->setreuid(real, effective) : -1;
}

EXPORT int setregid(gid_t real, gid_t effective) {
  return border_may_change_ids(SYS_setregid, real, effective, 0) ? next()->setregid(real, effective) : -1;
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved) {
  return border_may_change_ids(SYS_setresuid, real, effective, saved) ? next()->setresuid(real, effective, saved) : -1;
}

EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved) {
  return border_may_change_ids(SYS_setresgid, real, effective, saved) ? next()->setresgid(real, effective, saved) : -1;
}
