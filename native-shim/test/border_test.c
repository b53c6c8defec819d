/*
 * A process that gives up rights, and is taken over then: it writes to everything that it has mapped. Its relative must not notice.
 * As root, since others have no rights to give up; seccomp and no_new_privs as anybody.
 */
#include "agent/ready.h"
#include "code/code.h"
#include "fixture.h"
#include "record/record.h"
#include "session/blocks.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/life.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { PAGE = 4096, RET = 0xC3, EVIL = 0xCC, NOBODY = 65534, CHILDREN = 80 };
#define KEY(level) (0x7fff00000000ULL - 0x100 * (uint64_t)(level))

static uint8_t *page; /* executable, and a copy */
static uint8_t *alias;

/* As the agent makes it: text with a site, which a copy has taken the place of. */
static void family(void) {
  fixture(true);
  CHECK(kin_meet());
  page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  memset(page, RET, PAGE);
  int64_t at = code_copy((uintptr_t)page, PAGE, 0);
  CHECK(at > 0);
  alias = (uint8_t *)at;
  CHECK_EQUAL(code_show((uintptr_t)page, PAGE, (uint64_t)at), 0);
  entry_of(0)->store = (uint64_t)at;
  entry_of(0)->off = RET;
  record_entry_slow(entry_of(0), address_of(0), KEY(1));
}

static void need_root(void) {
  if (geteuid() != 0) {
    skip("only root has rights to give up");
  }
}

/* ---- what whoever takes it over does */

static void scribble(void) {
  memset(alias, EVIL, PAGE);
  entry_of(0)->store = EVIL;
  functions[0].index = EVIL;
  ((struct mdl_thread *)session->threads)->rows = EVIL;
  session->functions = EVIL;
  kin->session = EVIL;
}

/* Each mapping that is shared and leads to a file of ours, by which name whatever. */
static void look_for_shared(void) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  while (fgets(line, sizeof line, maps)) {
    char rights[5] = "";
    CHECK_EQUAL(sscanf(line, "%*x-%*x %4s", rights), 1);
    if (rights[3] == 's') {
      fprintf(stderr, "%s", line);
    }
    CHECK(rights[3] != 's');
  }
  fclose(maps);
  for (int file = 3; file < 64; file++) {
    char link[64], to[256] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    CHECK(readlink(link, to, sizeof to - 1) < 0 || (!strstr(to, "mdl-text") && !strstr(to, ".mdl")));
  }
}

/* What a mapping's rights are is up to whoever has it, within what its file lets. */
static void ask_for_more(void) {
  CHECK_EQUAL(mprotect(page, PAGE, PROT_READ | PROT_WRITE), 0);
  memset(page, EVIL, PAGE);
  void *second = mremap(session, 0, PAGE, MREMAP_MAYMOVE);
  if (second != MAP_FAILED) {
    memset(second, EVIL, PAGE);
  }
  syscall(SYS_remap_file_pages, page, PAGE, 0, 0, 0);
}

static bool goes_on(void) {
  return page[0] == RET && alias[0] == RET && entry_of(0)->store == (uintptr_t)alias && functions[0].index == 0 &&
         session->functions == (uintptr_t)functions && kin->session != EVIL &&
         ((struct mdl_thread *)session->threads)->rows != EVIL;
}

/* ---- ways to give up rights */

static bool by_setuid(void) { return setuid(NOBODY) == 0; }
static bool by_setreuid(void) { return setreuid(NOBODY, NOBODY) == 0; }
static bool by_setresuid(void) { return setgroups(0, NULL) + setresgid(NOBODY, NOBODY, NOBODY) + setresuid(NOBODY, NOBODY, NOBODY) == 0; }
static bool by_system_call(void) { return syscall(SYS_setresuid, (long)NOBODY, (long)NOBODY, (long)NOBODY) == 0; }
static bool by_saved_id(void) { return seteuid(NOBODY) == 0 && setresuid(NOBODY, NOBODY, 0) == 0 && setresuid(-1U, -1U, NOBODY) == 0; }
static bool by_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; }
static bool by_strict_seccomp(void) { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0; }
static bool by_strict_system_call(void) { return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0L, NULL) == 0; }
static bool by_root(void) { return chroot("/proc") == 0; }
static bool by_namespace(void) { return unshare(CLONE_NEWNET) == 0; }
static bool by_bounding_set(void) { return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) == 0; }

int capset(cap_user_header_t, const cap_user_data_t);

static bool by_capabilities(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}};
  return capset(&header, none) == 0;
}

static bool by_landlock(void) {
  struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE};
  long set = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
  if (set < 0) {
    skip("there is no Landlock here");
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, set, 0) == 0;
}

static void *become_nobody(void *unused) { return by_setresuid() ? unused : &page; }

static bool by_thread_that_ends(void) {
  pthread_t thread;
  return pthread_create(&thread, NULL, become_nobody, NULL) == 0 && pthread_join(thread, NULL) == 0 && geteuid() == NOBODY;
}

static int confine_child(bool (*way)(void), bool may_look) {
  family();
  pid_t child = fork();
  if (child == 0) {
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    if (!way()) {
      _exit(9);
    }
    scribble();
    if (!may_look) {
      syscall(SYS_exit, 3L);
    }
    look_for_shared();
    ask_for_more();
    _exit(3);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

#define CROSSES(name, way, root, may_look)       \
  static void name(void) {                       \
    if (root) {                                  \
      need_root();                               \
    }                                            \
    int status = confine_child(way, may_look);   \
    if (status == SKIPPED) {                     \
      skip("see above");                         \
    }                                            \
    CHECK_EQUAL(status, 3);                      \
    CHECK(goes_on());                            \
    CHECK_EQUAL(session->processes_apart, 1);    \
  }

CROSSES(shouldNotExecuteWhatAnotherUserWritesBySetuid, by_setuid, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesBySetreuid, by_setreuid, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesBySetresuid, by_setresuid, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesBySystemCall, by_system_call, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesByItsSavedId, by_saved_id, true, true)
CROSSES(shouldNotExecuteWhatAnotherUserWritesByAnyThread, by_thread_that_ends, true, true)
CROSSES(shouldNotExecuteWhatAProcessWithoutNewPrivilegesWrites, by_no_new_privileges, false, true)
CROSSES(shouldNotExecuteWhatAStrictlyConfinedProcessWrites, by_strict_seccomp, false, false)
CROSSES(shouldNotExecuteWhatAProcessConfinedBySystemCallWrites, by_strict_system_call, false, false)
CROSSES(shouldNotExecuteWhatAProcessWithAnotherRootWrites, by_root, true, false)
CROSSES(shouldNotExecuteWhatAProcessInAnotherNamespaceWrites, by_namespace, true, true)
CROSSES(shouldNotExecuteWhatAProcessWithoutCapabilitiesWrites, by_capabilities, true, true)
CROSSES(shouldNotExecuteWhatAProcessThatCannotGetCapabilitiesWrites, by_bounding_set, true, true)
CROSSES(shouldNotExecuteWhatALandlockedProcessWrites, by_landlock, false, true)

/* ---- the rest of the family */

static void shouldHaveTheBlocksOfOneThatHasGoneAsThoughItWereKilled(void) {
  need_root();
  family();
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    if (child == 0) {
      record_entry_slow(entry_of(0), address_of(0), KEY(1));
      _exit(by_setresuid() ? 3 : 9);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(WEXITSTATUS(status), 3);
    CHECK_EQUAL(session->children, 0);
  }
  CHECK_EQUAL(session->processes_apart, CHILDREN);
  CHECK_EQUAL(((uint64_t *)mdl_self->calls)[0], 1);
  CHECK(session->thread_count < CHILDREN); /* others have taken some over */
  uint64_t calls = 0;
  for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
    calls += ((uint64_t *)at->calls)[0];
  }
  CHECK_EQUAL(calls, CHILDREN + 1);
}

static bool go_on(const int pipe[2]) { return write(pipe[1], "", 1) == 1; }

static bool wait_for(const int pipe[2]) {
  char byte;
  return read(pipe[0], &byte, 1) == 1;
}

/* It writes nothing to its block between leaving and looking: as a thread that waits for requests. */
static void shouldKeepItsBlockWhenAnotherProcessHasTakenItOver(void) {
  need_root();
  scratch_stays = true; /* the session is mapped by its file, and shows what others write */
  family();
  int left[2], taken[2];
  CHECK(pipe(left) == 0 && pipe(taken) == 0);
  pid_t child = fork();
  if (child == 0) {
    close(taken[1]); /* so that it ends with its parent */
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    CHECK(by_setresuid());
    CHECK(go_on(left) && wait_for(taken));
    CHECK_EQUAL(mdl_self->tid, gettid());
    CHECK_EQUAL(mdl_self->process, (uintptr_t)family_self);
    CHECK_EQUAL(family_self->pid, getpid());
    _exit(3);
  }
  close(left[1]);
  bool has_left = wait_for(left);
  remove_scratch();
  CHECK(has_left);
  const struct mdl_thread *block = block_newest();
  CHECK_EQUAL(block->tid, child);
  session->thread_count += CHILDREN; /* so many that there is none for each */
  pid_t other = fork();
  if (other == 0) {
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    CHECK(mdl_self == block && go_on(taken));
    pause();
  }
  close(taken[1]); /* so that nobody waits for one that has failed */
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  kill(other, SIGKILL);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
}

static void *record_once(void *unused) {
  record_entry_slow(entry_of(0), address_of(0), KEY(1));
  return unused;
}

static void record_in_children(int count) {
  for (int i = 0; i < count; i++) {
    pid_t child = fork();
    if (child == 0) {
      record_once(NULL);
      _exit(0);
    }
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
  }
}

/* Blocks lie side by side: the page of its own has been copied, and what others make there later is not in the copy. */
static void shouldTakeNoBlockThatOthersHaveMadeSince(void) {
  need_root();
  scratch_stays = true; /* see above */
  family();
  int pipes[2][2];
  CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  char byte = 0;
  record_in_children(58);
  pid_t apart = fork();
  if (apart == 0) {
    record_once(NULL);
    CHECK(by_setresuid());
    CHECK(write(pipes[0][1], &byte, 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, record_once, NULL) == 0 && pthread_join(thread, NULL) == 0);
    _exit(3);
  }
  CHECK(read(pipes[0][0], &byte, 1) == 1);
  remove_scratch();
  record_in_children(CHILDREN);
  CHECK(write(pipes[1][1], &byte, 1) == 1);
  int status;
  CHECK_EQUAL(waitpid(apart, &status, 0), apart);
  CHECK_EQUAL(status, 3 << 8);
}

static void shouldGoOnWithProbesThatNobodySees(void) {
  need_root();
  family();
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    for (int i = 0; i < 1000; i++) {
      record_entry_slow(entry_of(1), address_of(1), KEY(1));
      record_exit_slow(exit_of(1), address_of(1), KEY(1));
    }
    CHECK_EQUAL(((uint64_t *)mdl_self->calls)[1], 1000);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      record_entry_slow(entry_of(1), address_of(1), KEY(1));
      _exit(4);
    }
    int status;
    CHECK_EQUAL(waitpid(grandchild, &status, 0), grandchild);
    CHECK_EQUAL(WEXITSTATUS(status), 4);
    exit(3);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  for (struct mdl_thread *at = (struct mdl_thread *)session->threads; at; at = (struct mdl_thread *)at->next) {
    CHECK_EQUAL(((uint64_t *)at->calls)[1], 0);
  }
}

static void shouldStayWithIdsThatCanBeTakenBack(void) {
  need_root();
  family();
  pid_t child = fork();
  if (child == 0) {
    CHECK_EQUAL(setegid(NOBODY) + seteuid(NOBODY), 0);
    record_entry_slow(entry_of(0), address_of(0), KEY(1));
    CHECK_EQUAL(seteuid(0) + setegid(0), 0);
    CHECK_EQUAL(setresuid(0, 0, 0) + setuid(0) + setgid(0), 0);
    CHECK_EQUAL(((uint64_t *)mdl_self->calls)[0], 1);
    _exit(3);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(session->processes_apart, 0);
  CHECK_EQUAL(((uint64_t *)((struct mdl_thread *)session->threads)->calls)[0], 1);
}

static void shouldNotGoWithAVforkChild(void) {
  need_root();
  family();
  pid_t child = vfork();
  if (child == 0) {
    syscall(SYS_setuid, (long)NOBODY);
    _exit(setresuid(NOBODY, NOBODY, NOBODY) == 0 ? 3 : 9);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(session->processes_apart, 0);
  entry_of(0)->on = RET + 1;
  code_record(entry_of(0), true);
  CHECK_EQUAL(page[0], RET + 1);
}

/* The other way round: it is the process with the agent that becomes nobody, and its child stays root. */
static void shouldNotBeHadByAnAgentThatHasBecomeNobody(void) {
  need_root();
  family();
  CHECK(kin_take_agent());
  int pipes[2][2];
  CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
  pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    close(pipes[1][1]);
    CHECK(write(pipes[0][1], &byte, 1) == 1 && read(pipes[1][0], &byte, 1) == 1);
    _exit(goes_on() ? 3 : 9);
  }
  close(pipes[1][0]); /* so that the child ends with this process */
  CHECK_EQUAL(read(pipes[0][0], &byte, 1), 1);
  CHECK(by_setresuid());
  CHECK(agent_is_dead());
  scribble();
  look_for_shared();
  CHECK_EQUAL(write(pipes[1][1], &byte, 1), 1);
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
}

static void shouldKeepItsAgentWithoutRelatives(void) {
  need_root();
  family();
  CHECK(kin_take_agent());
  CHECK(by_setresuid());
  CHECK(!agent_is_dead());
  entry_of(0)->on = RET + 1;
  code_record(entry_of(0), true);
  CHECK_EQUAL(page[0], RET + 1);
}

/* Who has not asked yet does not ask it any more. */
static void shouldHaveNoKinThatItHasBecomeAStrangerTo(void) {
  need_root();
  CHECK(kin_meet());
  process_start();
  atomic_fetch_add(&kin->early, 1);
  pid_t child = fork();
  if (child == 0) {
    CHECK(by_setresuid());
    kin->session = EVIL;
    _exit(kin->agent_pid == 0 && kin->early == 0 ? 3 : 9);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(WEXITSTATUS(status), 3);
  CHECK_EQUAL(kin->session, 0);
  CHECK_EQUAL(kin->unprobed, 1);
  CHECK(kin_take_agent());
  uint32_t *state = (uint32_t *)mremap(kin, 0, PAGE, MREMAP_MAYMOVE);
  const struct kin *before = (const struct kin *)state;
  CHECK(by_setresuid());
  CHECK(kin_has_agent());
  CHECK_EQUAL(kin->state, KIN_STARTING);
  CHECK_EQUAL(before->state, KIN_OVER);
}

TESTS({"shouldNotExecuteWhatAnotherUserWritesBySetuid", shouldNotExecuteWhatAnotherUserWritesBySetuid},
      {"shouldNotExecuteWhatAnotherUserWritesBySetreuid", shouldNotExecuteWhatAnotherUserWritesBySetreuid},
      {"shouldNotExecuteWhatAnotherUserWritesBySetresuid", shouldNotExecuteWhatAnotherUserWritesBySetresuid},
      {"shouldNotExecuteWhatAnotherUserWritesBySystemCall", shouldNotExecuteWhatAnotherUserWritesBySystemCall},
      {"shouldNotExecuteWhatAnotherUserWritesByItsSavedId", shouldNotExecuteWhatAnotherUserWritesByItsSavedId},
      {"shouldNotExecuteWhatAnotherUserWritesByAnyThread", shouldNotExecuteWhatAnotherUserWritesByAnyThread},
      {"shouldNotExecuteWhatAProcessWithoutNewPrivilegesWrites", shouldNotExecuteWhatAProcessWithoutNewPrivilegesWrites},
      {"shouldNotExecuteWhatAStrictlyConfinedProcessWrites", shouldNotExecuteWhatAStrictlyConfinedProcessWrites},
      {"shouldNotExecuteWhatAProcessConfinedBySystemCallWrites", shouldNotExecuteWhatAProcessConfinedBySystemCallWrites},
      {"shouldNotExecuteWhatAProcessWithAnotherRootWrites", shouldNotExecuteWhatAProcessWithAnotherRootWrites},
      {"shouldNotExecuteWhatAProcessInAnotherNamespaceWrites", shouldNotExecuteWhatAProcessInAnotherNamespaceWrites},
      {"shouldNotExecuteWhatAProcessWithoutCapabilitiesWrites", shouldNotExecuteWhatAProcessWithoutCapabilitiesWrites},
      {"shouldNotExecuteWhatAProcessThatCannotGetCapabilitiesWrites",
       shouldNotExecuteWhatAProcessThatCannotGetCapabilitiesWrites},
      {"shouldNotExecuteWhatALandlockedProcessWrites", shouldNotExecuteWhatALandlockedProcessWrites},
      {"shouldHaveTheBlocksOfOneThatHasGoneAsThoughItWereKilled", shouldHaveTheBlocksOfOneThatHasGoneAsThoughItWereKilled},
      {"shouldKeepItsBlockWhenAnotherProcessHasTakenItOver", shouldKeepItsBlockWhenAnotherProcessHasTakenItOver},
      {"shouldTakeNoBlockThatOthersHaveMadeSince", shouldTakeNoBlockThatOthersHaveMadeSince},
      {"shouldGoOnWithProbesThatNobodySees", shouldGoOnWithProbesThatNobodySees},
      {"shouldStayWithIdsThatCanBeTakenBack", shouldStayWithIdsThatCanBeTakenBack},
      {"shouldNotGoWithAVforkChild", shouldNotGoWithAVforkChild},
      {"shouldNotBeHadByAnAgentThatHasBecomeNobody", shouldNotBeHadByAnAgentThatHasBecomeNobody},
      {"shouldKeepItsAgentWithoutRelatives", shouldKeepItsAgentWithoutRelatives},
      {"shouldHaveNoKinThatItHasBecomeAStrangerTo", shouldHaveNoKinThatItHasBecomeAStrangerTo})
