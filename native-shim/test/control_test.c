#include "agent/control.h"
#include "agent/sleep.h"
#include "code/death.h"
#include "fixture.h"
#include "process/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <mdl/api.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void *agent(void *unused) {
  (void)unused;
  char request[MDL_REQUEST_MAX];
  for (;;) {
    int64_t length = control_take(request);
    if (length > 0) {
      char text[MDL_REQUEST_MAX + 8];
      int bytes = snprintf(text, sizeof text, "ok\n%.*s", (int)length, request);
      control_answer(text, bytes);
    } else {
      agent_sleep(1000000);
    }
  }
  return NULL;
}

static const char *in_session(const char *name) {
  static char path[sizeof scratch + 32];
  snprintf(path, sizeof path, "%s/session/%s", scratch, name);
  return path;
}

static void begin_session(void) {
  make_scratch();
  process_start();
  struct instant now = instant_now();
  snprintf(options.session, sizeof options.session, "%s/session", scratch);
  CHECK(agent_begin_session(&now) == NULL);
}

static void start_without_agent(void) {
  begin_session();
  control_start();
  strcpy(address.sun_path, in_session("control"));
}

static void start(void) {
  start_without_agent();
  CHECK(threads_start_agent(agent) == 0);
}

static int connected(void) {
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(connect(file, (const struct sockaddr *)&address, sizeof address) == 0);
  return file;
}

static const char *answer_on(int file) {
  static char text[MDL_ANSWER_MAX + 1];
  size_t length = 0;
  for (ssize_t got; (got = read(file, text + length, sizeof text - 1 - length)) > 0; length += (size_t)got) {
  }
  text[length] = 0;
  close(file);
  return text;
}

/* If the agent closes before everything is read, the connection is reset; the answer can be read all the
 * same. */
static const char *ask(const char *bytes, size_t length) {
  int file = connected();
  for (size_t sent = 0; sent < length;) {
    ssize_t part = send(file, bytes + sent, length - sent, MSG_NOSIGNAL);
    if (part < 0) {
      break;
    }
    sent += (size_t)part;
  }
  return answer_on(file);
}

static const uint64_t FOR_EVER_NANOS = 1200000000000u;

static void shouldAnswerARequest(void) {
  start();
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  CHECK_TEXT(ask("again\nand not this\n", 19), "ok\nagain");
  remove_scratch();
}

/* Its wake-up came before the sleep began. Otherwise the sleep would outlast the test. */
static void shouldNotSleepWhileARequestWaits(void) {
  start_without_agent();
  int file = connected();
  CHECK_EQUAL(send(file, "hello\n", 6, MSG_NOSIGNAL), 6);
  while (!control_has_request()) {
    usleep(1000);
  }
  agent_sleep(FOR_EVER_NANOS);
  char request[MDL_REQUEST_MAX];
  CHECK_EQUAL(control_take(request), 5);
  control_answer("ok\n", 3);
  CHECK_TEXT(answer_on(file), "ok\n");
  remove_scratch();
}

static void shouldBeForItsOwnerAlone(void) {
  start();
  struct stat status;
  CHECK(lstat(address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode));
  CHECK_EQUAL(status.st_mode & 07777, 0600);
  CHECK_EQUAL(status.st_uid, geteuid());
  remove_scratch();
}

static void shouldBeForItsOwnerWhateverTheUmask(void) {
  mode_t umask_before = umask(0777);
  start();
  umask(umask_before);
  struct stat status;
  CHECK(lstat(address.sun_path, &status) == 0);
  CHECK_EQUAL(status.st_mode & 07777, 0600);
  remove_scratch();
}

/* If everybody may enter a directory, and the mode of the socket was changed, the socket's owner is
 * checked. */
static void shouldNotListenToAnotherUser(void) {
  if (geteuid() != 0) {
    skip("only root can be another user");
  }
  start();
  CHECK(chmod(scratch, 0777) == 0 && chmod(in_session(""), 0777) == 0 && chmod(address.sun_path, 0777) == 0);
  pid_t child = fork();
  if (child == 0) {
    CHECK(setresuid(65534, 65534, 65534) == 0);
    CHECK_TEXT(ask("hello\n", 6), "");
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  remove_scratch();
}

static void shouldTakeThePlaceOfAFormerSocket(void) {
  begin_session();
  struct sockaddr_un former = {.sun_family = AF_UNIX};
  strcpy(former.sun_path, in_session("control"));
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(bind(file, (const struct sockaddr *)&former, sizeof former) == 0);
  close(file);
  control_start();
  CHECK(threads_start_agent(agent) == 0);
  strcpy(address.sun_path, former.sun_path);
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  remove_scratch();
}

static void shouldLeaveAFileOfTheUsersThatHasItsName(void) {
  begin_session();
  close(open(in_session("control"), O_CREAT | O_WRONLY, 0600));
  control_start();
  struct stat status;
  CHECK(lstat(in_session("control"), &status) == 0 && S_ISREG(status.st_mode));
  remove_scratch();
}

static void shouldWorkInADirectoryWithALongName(void) {
  make_scratch();
  process_start();
  struct instant now = instant_now();
  snprintf(options.session, sizeof options.session, "%s/%0200d", scratch, 0);
  CHECK(agent_begin_session(&now) == NULL);
  control_start();
  CHECK(threads_start_agent(agent) == 0);
  int place = open(options.session, O_PATH | O_DIRECTORY);
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/control", place);
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  remove_scratch();
}

static void shouldRefuseWhatIsNoRequest(void) {
  start();
  static char huge[1 << 20];
  memset(huge, 'x', sizeof huge);
  CHECK_TEXT(ask(huge, sizeof huge), "error the request is too long\n");
  CHECK_TEXT(ask("\n", 1), "error the request is empty\n");
  huge[0] = '{';
  CHECK_TEXT(ask(huge, sizeof huge), "{\"error\": \"the request is too long\"}\n");
  int file = connected();
  CHECK(write(file, "half", 4) == 4);
  CHECK(shutdown(file, SHUT_WR) == 0);
  CHECK_TEXT(answer_on(file), "error the request has no end\n");
  remove_scratch();
}

static void shouldTakeTheLongestRequest(void) {
  start();
  static char line[MDL_REQUEST_MAX];
  memset(line, 'y', sizeof line - 1);
  line[sizeof line - 1] = '\n';
  CHECK_EQUAL(strlen(ask(line, sizeof line)), sizeof line - 1 + 3);
  remove_scratch();
}

/* Other clients are served while silent ones take all places but one, and the silent ones lose theirs. */
static void shouldNotWaitForSilentClients(void) {
  control_patience_nanos = FOR_EVER_NANOS;
  start();
  int silent[7];
  for (int i = 0; i < 7; i++) {
    silent[i] = connected();
    CHECK(write(silent[i], "pro", 3) == 3);
  }
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  for (int i = 0; i < 7; i++) {
    close(silent[i]);
  }
  control_patience_nanos = 1000000;
  for (int i = 0; i < 7; i++) {
    silent[i] = connected();
  }
  for (int i = 0; i < 7; i++) {
    CHECK_TEXT(answer_on(silent[i]), "error no request has come\n");
  }
  control_patience_nanos = FOR_EVER_NANOS;
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  remove_scratch();
}

/* More clients than places: they wait in the kernel's queue, and each is answered. */
static void shouldServeMoreClientsThanItHasPlaces(void) {
  start();
  int files[16];
  for (int i = 0; i < 16; i++) {
    files[i] = connected();
    if (i >= 8) {
      CHECK(write(files[i], "hello\n", 6) == 6);
    }
  }
  for (int i = 0; i < 8; i++) {
    CHECK(write(files[i], "hello\n", 6) == 6);
  }
  for (int i = 0; i < 16; i++) {
    CHECK_TEXT(answer_on(files[i]), "ok\nhello");
  }
  remove_scratch();
}

static void shouldSurviveClientsThatAreKilled(void) {
  start();
  for (int i = 0; i < 200; i++) {
    pid_t child = fork();
    if (child == 0) {
      int file = connected();
      ssize_t unused = write(file, "hello\n", (size_t)(i % 7));
      (void)unused;
      raise(SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
  }
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  remove_scratch();
}

static void shouldSayThatTheAgentIsBusy(void) {
  control_patience_nanos = 200000000;
  start_without_agent();
  CHECK_TEXT(ask("hello\n", 6), "error the agent is busy: try again\n");
  control_patience_nanos = FOR_EVER_NANOS;
  CHECK(threads_start_agent(agent) == 0);
  CHECK_TEXT(ask("later\n", 6), "ok\nlater");
  remove_scratch();
}

static void shouldSayThatTheAgentHasEnded(void) {
  start_without_agent();
  int file = connected();
  CHECK(write(file, "hello\n", 6) == 6);
  agent_died("it was told to", NULL);
  CHECK_TEXT(answer_on(file), "error the agent has ended, and its probes are off\n");
  remove_scratch();
}

static void shouldRemoveTheSocketAtTheEnd(void) {
  start();
  struct stat status;
  CHECK(lstat(address.sun_path, &status) == 0);
  control_end();
  CHECK(lstat(address.sun_path, &status) < 0 && errno == ENOENT);
  control_end();
  remove_scratch();
}

static void shouldNotRemoveWhatHasTakenTheSocketsPlace(void) {
  start();
  struct stat status;
  CHECK(rename(address.sun_path, in_session("elsewhere")) == 0);
  close(open(address.sun_path, O_CREAT | O_WRONLY, 0600));
  control_end();
  CHECK(lstat(address.sun_path, &status) == 0 && S_ISREG(status.st_mode));
  remove_scratch();
}

/* Lines of all bytes and lengths, in pieces, some unterminated: each is answered, or refused with a reason. */
static void shouldSurviveAnyBytes(void) {
  control_patience_nanos = FOR_EVER_NANOS; /* all are terminated */
  start();
  const char *given = getenv("MDL_FUZZ_CASES");
  long cases = given ? atol(given) : 20000;
  uint64_t random = 88172645463325252ULL;
  long answered = 0, refused = 0;
  for (long i = 0; i < cases; i++) {
    static char bytes[2 * MDL_REQUEST_MAX];
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    size_t length = random % 64 == 0 ? (random >> 8) % sizeof bytes : (random >> 8) % 64;
    for (size_t k = 0; k < length; k++) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      bytes[k] = (char)(random >> 32);
    }
    int file = connected();
    size_t first = length ? (random >> 20) % length : 0;
    ssize_t sent = send(file, bytes, first, MSG_NOSIGNAL);
    if (sent == (ssize_t)first) {
      sent = send(file, bytes + first, length - first, MSG_NOSIGNAL);
    }
    shutdown(file, SHUT_WR);
    const char *text = answer_on(file);
    bool ok = strncmp(text, "ok\n", 3) == 0;
    CHECK(ok || strncmp(text, length && bytes[0] == '{' ? "{\"error" : "error ", 6) == 0);
    answered += ok;
    refused += !ok;
  }
  CHECK(answered > cases / 20 && refused > cases / 4);
  CHECK_TEXT(ask("hello\n", 6), "ok\nhello");
  remove_scratch();
}

TESTS({"shouldAnswerARequest", shouldAnswerARequest},
      {"shouldNotSleepWhileARequestWaits", shouldNotSleepWhileARequestWaits},
      {"shouldBeForItsOwnerAlone", shouldBeForItsOwnerAlone},
      {"shouldBeForItsOwnerWhateverTheUmask", shouldBeForItsOwnerWhateverTheUmask},
      {"shouldNotListenToAnotherUser", shouldNotListenToAnotherUser},
      {"shouldTakeThePlaceOfAFormerSocket", shouldTakeThePlaceOfAFormerSocket},
      {"shouldLeaveAFileOfTheUsersThatHasItsName", shouldLeaveAFileOfTheUsersThatHasItsName},
      {"shouldWorkInADirectoryWithALongName", shouldWorkInADirectoryWithALongName},
      {"shouldRefuseWhatIsNoRequest", shouldRefuseWhatIsNoRequest},
      {"shouldTakeTheLongestRequest", shouldTakeTheLongestRequest},
      {"shouldNotWaitForSilentClients", shouldNotWaitForSilentClients},
      {"shouldServeMoreClientsThanItHasPlaces", shouldServeMoreClientsThanItHasPlaces},
      {"shouldSurviveClientsThatAreKilled", shouldSurviveClientsThatAreKilled},
      {"shouldSayThatTheAgentIsBusy", shouldSayThatTheAgentIsBusy},
      {"shouldSayThatTheAgentHasEnded", shouldSayThatTheAgentHasEnded},
      {"shouldRemoveTheSocketAtTheEnd", shouldRemoveTheSocketAtTheEnd},
      {"shouldNotRemoveWhatHasTakenTheSocketsPlace", shouldNotRemoveWhatHasTakenTheSocketsPlace},
      {"shouldSurviveAnyBytes", shouldSurviveAnyBytes})
