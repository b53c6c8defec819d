/*
 * A process that was forked before the probes were in place has the program's own text, and nothing of what the agent has
 * mapped since. A thread of its own waits for the agent, and then maps the same at the same addresses: the session, the code
 * memory, last the copies of text. From then on it is as one that is forked later, and the thread ends.
 *
 * What is mapped are files that have no name, or one that the process may not open any more: it may have changed its user and its
 * root. So the agent hands their descriptors out, at a socket, to whoever knows the family's key. A datagram asks and another
 * answers, so nobody can keep the socket busy. Where something of the process's own has come to stand at one of the addresses, it
 * stays without probes.
 */
#include "agent/relatives.h"

#include "agent/descriptors.h"
#include "agent/exit.h"
#include "code/code.h"
#include "code/libraries.h"
#include "code/unwind.h"
#include "os/gate.h"
#include "os/self.h"
#include "os/sys.h"
#include "process/dispositions.h"
#include "process/threads.h"
#include "record/calls.h"
#include "session/family.h"
#include "session/kin.h"
#include "session/log.h"
#include "session/options.h"
#include "session/session.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const uint64_t LOOK_NANOS = 5000000u;
/* A parent that lives and will never take the agent is waited for so long. */
static const uint64_t PARENT_NANOS_MAX = 1000000000u;
/* From when all can ask on: whoever has not asked by then was stopped, or will not. */
enum { ANSWER_SECONDS = 10 };
enum { SESSION, CODE, FILES };

static socklen_t address_of_agent(struct sockaddr_un *address) {
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  /* In the name space of no file system, which a process may have left. */
  int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "mdl-%016llx", (unsigned long long)kin->name);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static void set_patience(int socket, int seconds) {
  struct timeval time = {.tv_sec = seconds};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

union rights {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(FILES * sizeof(int))];
};

/* ---- the agent's side */

static int listener;
static int files[FILES];

static void answer(const struct sockaddr_un *to, socklen_t length) {
  char byte = 0;
  struct iovec vector = {&byte, 1};
  union rights rights;
  memset(&rights, 0, sizeof rights);
  struct msghdr message = {.msg_name = (void *)(uintptr_t)to,
                           .msg_namelen = length,
                           .msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = rights.bytes,
                           .msg_controllen = sizeof rights.bytes};
  rights.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof files), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&rights.header), files, sizeof files);
  sendmsg(listener, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void *serve(void *unused) {
  uint64_t nanos = options.start_delay_millis * 1000000ULL + (uint64_t)ANSWER_SECONDS * 1000000000u;
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + nanos;
  while (clock_nanos(CLOCK_MONOTONIC) < deadline) {
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    uint64_t key;
    if (recvfrom(listener, &key, sizeof key, 0, (struct sockaddr *)&from, &length) == (ssize_t)sizeof key && key == kin->key) {
      answer(&from, length);
    }
  }
  close(listener);
  close(files[SESSION]);
  return unused;
}

static bool start_serving(void) {
  uint64_t random[2];
  if (!agent_has_own_descriptors || getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
    return false;
  }
  kin->name = random[0];
  kin->key = random[1];
  struct sockaddr_un address;
  socklen_t length = address_of_agent(&address);
  listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  files[SESSION] = session_open();
  files[CODE] = code_file();
  if (listener < 0 || files[SESSION] < 0 || files[CODE] < 0 || bind(listener, (const struct sockaddr *)&address, length) < 0) {
    return false;
  }
  set_patience(listener, 1);
  return threads_start_agent(serve) == 0;
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
    __atomic_fetch_add(&session->forks, 1, __ATOMIC_SEQ_CST); /* copies of text are not this process's alone any more */
  }
  if (some && (atomic_load(&kin->pieces) > KIN_PIECES || !start_serving())) {
    log_line("processes that were forked before the probes were in place have none", NULL);
    kin_go_without(atomic_load(&kin->early));
    kin_agent_failed();
    return;
  }
  atomic_store(&kin->state, KIN_READY);
}

/* ---- a relative's */

static bool ask(int socket, int received[FILES]) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (bind(socket, (const struct sockaddr *)&address, sizeof address.sun_family) < 0) {
    return false; /* of this length it asks for a name that is free */
  }
  socklen_t length = address_of_agent(&address);
  set_patience(socket, ANSWER_SECONDS);
  if (connect(socket, (const struct sockaddr *)&address, length) < 0 ||
      send(socket, &kin->key, sizeof kin->key, MSG_NOSIGNAL) != (ssize_t)sizeof kin->key) {
    return false;
  }
  char byte;
  struct iovec vector = {&byte, 1};
  union rights rights;
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = rights.bytes, .msg_controllen = sizeof rights.bytes};
  if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1 || message.msg_controllen < sizeof rights.header ||
      rights.header.cmsg_len != CMSG_LEN(FILES * sizeof(int))) {
    return false;
  }
  memcpy(received, CMSG_DATA(&rights.header), FILES * sizeof(int));
  return true;
}

/* No fork meanwhile: a child has all of it or nothing. */
static bool map_all(const int descriptors[FILES], pid_t forker, const struct instant *start) {
  gate_lock();
  struct mdl_header *header = session_join(descriptors[SESSION]);
  bool joins = header && code_join(descriptors[CODE]);
  if (joins) {
    calls_start();
    unwind_join();
    __atomic_store_n(&session, header, __ATOMIC_RELEASE);
    if (!family_self) {
      family_joined(forker, start->real_nanos);
    }
    if (__atomic_load_n(&session->traps, __ATOMIC_ACQUIRE)) {
      signals_catch_traps();
    }
    log_open(session->directory);
    libraries_join(descriptors[CODE]);
    atomic_store(&kin_has_probes, true);
  }
  gate_unlock();
  return joins;
}

static bool join(pid_t forker, const struct instant *start) {
  int descriptors[FILES];
  bool joined = false;
  int channel = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (channel >= 0 && ask(channel, descriptors)) {
    joined = map_all(descriptors, forker, start);
    close(descriptors[SESSION]);
    close(descriptors[CODE]);
  }
  close(channel);
  return joined;
}

bool relatives_await_agent(pid_t forker, const struct instant *start) {
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
        kin_go_without(1);
        return false;
      case KIN_OVER: return false;
      default: break;
    }
    bool has_elder = forker && getppid() == forker && clock_nanos(CLOCK_MONOTONIC) < deadline;
    if (!has_elder && kin_take_agent()) {
      return true;
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)LOOK_NANOS}, NULL);
    exit_with_application();
  }
  return false;
}
