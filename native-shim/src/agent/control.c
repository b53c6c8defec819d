/*
 * The control socket: requests from the command line to the agent.
 *
 * A client sends one line of at most MDL_REQUEST_MAX bytes and reads the answer to its end: the first line is "ok", or
 * "error" and the reason; the result follows. A line that begins with a brace is answered by a JSON object in one line
 * (docs/scripting.md). A dedicated thread collects the lines, so a slow client delays only itself.
 * Java's thread, which owns the probes, executes the requests one at a time. The listening thread sleeps while there are no
 * requests.
 *
 * Assumes    A1 the descriptors are the agent's own: no other code closes them or reuses their numbers
 * Guarantees G1 only the session's owner and root are served
 *            G2 a client occupies one of CLIENTS_MAX places, for PATIENCE_NANOS at most
 *
 *   this thread                               Java's thread
 *   1 state = POSTED, wake                    2 control_take: state = TAKEN
 *                                             3 control_answer: state = ANSWERED, wake
 *   4 send, state = FREE
 *
 * A request that Java does not take in time is withdrawn: POSTED becomes FREE, unless Java makes it TAKEN first.
 */
#include "agent/control.h"

#include "code/libraries.h"
#include "os/glibc.h"
#include "os/sys.h"
#include "process/threads.h"
#include "session/directories.h"
#include "session/file.h"
#include "session/life.h"
#include "session/log.h"
#include "session/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS_MAX = 8, LOOK_NANOS = 100000000 };
/* A variable so that tests can change it. */
uint64_t control_patience_nanos = 5000000000u;

struct client {
  int socket;
  uint32_t length;
  uint64_t deadline;
  char line[MDL_REQUEST_MAX];
};

static int listener;
static uid_t owner;
static char path[PATH_MAX + 16];
static struct stat place;      /* the socket's inode */
static _Atomic bool has_place; /* the socket exists, and this process must remove it */
static struct client clients[CLIENTS_MAX];
static int places_taken;

enum { FREE, POSTED, TAKEN, ANSWERED };
static struct {
  _Atomic uint32_t state;
  const struct client *from;
  uint32_t answer_length;
  char answer[MDL_ANSWER_MAX];
} box;

/* ---- on Java's thread */

bool control_has_request(void) { return atomic_load(&box.state) == POSTED; }

int64_t control_take(char *out) {
  uint32_t posted = POSTED;
  if (!atomic_compare_exchange_strong(&box.state, &posted, TAKEN)) {
    return 0;
  }
  memcpy(out, box.from->line, box.from->length);
  return box.from->length;
}

void control_answer(const char *text, int64_t length) {
  box.answer_length = length < MDL_ANSWER_MAX ? (uint32_t)length : MDL_ANSWER_MAX;
  memcpy(box.answer, text, box.answer_length);
  atomic_store(&box.state, ANSWERED);
  futex_wake(&box.state);
}

void control_await_answer(void) {
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + control_patience_nanos;
  for (uint32_t state; (state = atomic_load(&box.state)) == TAKEN || state == ANSWERED;) {
    if (clock_nanos(CLOCK_MONOTONIC) > deadline) {
      return;
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

/* ---- on the thread that listens */

static void leave(struct client *client) {
  close(client->socket);
  *client = clients[--places_taken];
}

/* The socket's buffer is empty and large enough, so the send does not block. */
static void answer(struct client *client, const char *text, size_t length) {
  ssize_t unused = send(client->socket, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  (void)unused;
  leave(client);
}

/* `why` needs no escapes in JSON. */
static void refuse(struct client *client, const char *why) {
  char text[128];
  bool json = client->length > 0 && client->line[0] == '{';
  int length = snprintf(text, sizeof text, json ? "{\"error\": \"%s\"}\n" : "error %s\n", why);
  answer(client, text, (size_t)length);
}

static void execute(struct client *client) {
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + control_patience_nanos;
  box.from = client;
  atomic_store(&box.state, POSTED);
  libraries_interrupt();
  uint32_t state;
  while ((state = atomic_load(&box.state)) != ANSWERED && !agent_is_dead()) {
    if (state == POSTED && clock_nanos(CLOCK_MONOTONIC) > deadline &&
        atomic_compare_exchange_strong(&box.state, &state, FREE)) {
      refuse(client, "the agent is busy: try again");
      return;
    }
    futex_wait(&box.state, state, LOOK_NANOS);
  }
  if (state != ANSWERED) {
    refuse(client, "the agent has ended, and its probes are off");
    return;
  }
  answer(client, box.answer, box.answer_length);
  atomic_store(&box.state, FREE);
}

/* Reads the available part of a client's line. */
static void hear(struct client *client) {
  uint32_t room = MDL_REQUEST_MAX - client->length;
  ssize_t length = recv(client->socket, client->line + client->length, room, MSG_DONTWAIT);
  if (length < 0) {
    if (errno != EAGAIN && errno != EINTR) {
      leave(client);
    }
    return;
  }
  const char *end = memchr(client->line + client->length, '\n', (size_t)length);
  client->length += (uint32_t)length;
  if (end) {
    client->length = (uint32_t)(end - client->line);
    if (client->length > 0) {
      execute(client);
    } else {
      refuse(client, "the request is empty");
    }
  } else if (length == 0) {
    refuse(client, "the request has no end");
  } else if (client->length == MDL_REQUEST_MAX) {
    refuse(client, "the request is too long");
  }
}

static void accept_client(void) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (socket < 0) {
    return;
  }
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || (peer.uid != owner && peer.uid != 0)) {
    close(socket);
    return;
  }
  struct client *client = &clients[places_taken++];
  client->socket = socket;
  client->length = 0;
  client->deadline = clock_nanos(CLOCK_MONOTONIC) + control_patience_nanos;
}

/* poll's timeout: until the first deadline; infinite without clients. */
static int sleep_millis(uint64_t now) {
  uint64_t first = UINT64_MAX;
  for (int i = 0; i < places_taken; i++) {
    first = clients[i].deadline < first ? clients[i].deadline : first;
  }
  return first == UINT64_MAX ? -1 : first <= now ? 0 : (int)((first - now) / 1000000) + 1;
}

_Noreturn static void *serve(void *unused) {
  (void)unused;
  for (;;) {
    /* Clients first, so that poll skips the places from places_taken on. */
    struct pollfd polled[CLIENTS_MAX + 1];
    int known = places_taken;
    for (int i = 0; i < known; i++) {
      polled[i] = (struct pollfd){.fd = clients[i].socket, .events = POLLIN};
    }
    polled[known] = (struct pollfd){.fd = known < CLIENTS_MAX ? listener : -1, .events = POLLIN};
    if (poll(polled, (nfds_t)known + 1, sleep_millis(clock_nanos(CLOCK_MONOTONIC))) < 0) {
      continue;
    }
    uint64_t now = clock_nanos(CLOCK_MONOTONIC);
    /* Backwards, because the last client moves into the place of one that leaves. */
    for (int i = known - 1; i >= 0; i--) {
      if (polled[i].revents) {
        hear(&clients[i]);
      } else if (clients[i].deadline <= now) {
        refuse(&clients[i], "no request has come");
      }
    }
    if (polled[known].revents) {
      accept_client();
    }
  }
}

/* Binds by the directory's descriptor, because socket paths are limited to 108 bytes. */
static int bind_in(int directory) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/thread-self/fd/%d/control", directory);
  /* This session owns its directory's name (session/file.c), so a socket of ours is from an earlier session. Any other
   * file of this name is the user's: then there is no control socket. */
  struct stat former;
  if (fstatat(directory, "control", &former, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(former.st_mode) && former.st_uid == owner) {
    unlinkat(directory, "control", 0);
  }
  /* Set the mode before listening, so that other users can never connect. */
  if (fchmod(listener, 0600) < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) < 0) {
    return -errno;
  }
  snprintf(path, sizeof path, "%s/control", session->directory);
  atomic_store(&has_place, fstatat(directory, "control", &place, AT_SYMLINK_NOFOLLOW) == 0);
  int error = repair_mode(directory, "control", 0600);
  if (error) {
    return error;
  }
  if (listen(listener, CLIENTS_MAX) < 0) {
    return -errno;
  }
  return threads_start_agent(serve) ? -EAGAIN : 0;
}

void control_start(void) {
  owner = geteuid();
  int directory = open(session->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  int error = directory < 0 || listener < 0 ? -errno : bind_in(directory);
  if (error) {
    log_line("there is no control socket: ", strerrorname_np(-error), NULL);
    if (listener >= 0) {
      close(listener);
    }
  }
  if (directory >= 0) {
    close(directory);
  }
}

/* ---- on the application's threads */

/* The path may now name another file: the application may have changed its root or its current directory. */
void control_end(void) {
  struct stat now;
  if (atomic_exchange(&has_place, false) && lstat(path, &now) == 0 && now.st_dev == place.st_dev &&
      now.st_ino == place.st_ino) {
    unlink(path);
  }
}
