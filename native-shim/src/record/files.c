#include "record/files.h"

#include "session/memory.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { DESCRIPTORS = 1 << 16, NAMES = 1000, PLACES = 4096, NAME_BYTES = 251, DIRECTORIES = 64 };

static const char HIERARCHY[] = "/File";

/* A struct mdl_string. */
struct name {
  _Atomic uint32_t length; /* 0 until the name is stored */
  char bytes[NAME_BYTES + 1];
};

/* In the session's memory, so forked processes share it. */
struct names {
  _Atomic uint64_t places[PLACES]; /* hash of a name, and in the lower 16 bits its number */
  _Atomic uint32_t taken;
  struct name names[NAMES + 1]; /* the first is unused */
};

static struct names *names;

/* A forked process continues with a copy. */
static struct {
  int64_t lowest;
  int64_t count;
  _Atomic int64_t entries[DESCRIPTORS];
  /* For the agent; generated code does not use the rest. */
  _Atomic int64_t nameless; /* count of negative numbers in use */
  _Atomic int64_t end;      /* end of the entries written so far */
} descriptors;
static uint64_t table;

/* Directories that the process has been in; entries are never removed. */
static char directories[DIRECTORIES][NAME_BYTES + 1];
static _Atomic uint32_t entered;
static _Atomic(const char *) directory;

/* A name under construction. */
struct text {
  uint32_t length;
  bool fails;
  char bytes[NAME_BYTES + 1];
};

static void append(struct text *text, const char *bytes, size_t length) {
  if (text->fails || length > NAME_BYTES - text->length) {
    text->fails = true;
    return;
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += (uint32_t)length;
  text->bytes[text->length] = 0;
}

static void append_text(struct text *text, const char *bytes) { append(text, bytes, strlen(bytes)); }

static void append_number(struct text *text, uint32_t number, uint32_t base) {
  char digits[10];
  uint32_t at = sizeof digits;
  do {
    digits[--at] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number);
  append(text, digits + at, sizeof digits - at);
}

/* Bytes of the printable UTF-8 character there, 0 if there is none. */
static size_t character(const unsigned char *at) {
  size_t more = *at < 0x80 ? 0 : *at >= 0xc2 && *at < 0xe0 ? 1 : (*at & 0xf0) == 0xe0 ? 2 : *at >= 0xf0 && *at < 0xf5 ? 3 : 4;
  if (more == 4 || *at < ' ' || *at == 0x7f) {
    return 0;
  }
  for (size_t i = 1; i <= more; i++) {
    if ((at[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  bool is_long = *at == 0xe0 ? at[1] < 0xa0 : *at == 0xf0 && at[1] < 0x90;
  bool is_none = *at == 0xed ? at[1] >= 0xa0 : *at == 0xf4 && at[1] >= 0x90;
  return is_long || is_none ? 0 : more + 1;
}

/* Escapes the name so that a request can name it unambiguously. */
static bool is_plain(const struct text *text) {
  const char *component = text->bytes + sizeof HIERARCHY;
  static const char *const taken[] = {"socket:", "pipe:", "anon_inode:", "(other)", "#"};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    if (strncmp(component, taken[i], strlen(taken[i])) == 0) {
      return false;
    }
  }
  return text->length > sizeof HIERARCHY && !strstr(component, "@/");
}

/* Adds a path without "." and repeated slashes. Fails at "..", which only the kernel can resolve. */
static void append_path(struct text *text, const char *path) {
  for (;;) {
    path += strspn(path, "/");
    size_t length = strcspn(path, "/");
    if (length == 0) {
      return;
    }
    if (length == 2 && path[0] == '.' && path[1] == '.') {
      text->fails = true;
      return;
    }
    if (length != 1 || path[0] != '.') {
      append(text, "/", 1);
      append(text, path, length);
    }
    path += length;
  }
}

static bool is_printable(const struct text *text) {
  size_t length = 1;
  for (const char *at = text->bytes; *at && length; at += length) {
    length = character((const unsigned char *)at);
  }
  return length != 0;
}

static uint64_t hash_of(const char *bytes, size_t length) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++) {
    hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
  }
  return hash ^ hash >> 29;
}

/* Stores the name under a new number. */
static uint32_t write_name(const char *bytes, size_t length) {
  if (atomic_load(&names->taken) >= NAMES) {
    return 0;
  }
  uint32_t number = atomic_fetch_add(&names->taken, 1) + 1;
  if (number > NAMES) {
    return 0;
  }
  memcpy(names->names[number].bytes, bytes, length);
  return number;
}

/*
 * One compare-and-swap publishes hash and number. A loser wastes its number and finds the winner's. Names are compared as
 * whole entries, which are padded with 0.
 */
int64_t files_intern(const char *bytes, int64_t signed_length) {
  size_t length = (size_t)signed_length;
  if (!names || length == 0 || length > NAME_BYTES) {
    return 0;
  }
  uint64_t hash = hash_of(bytes, length) << 16;
  uint32_t own = 0;
  for (uint32_t i = 0, at = (uint32_t)(hash >> 40); i < PLACES; i++, at++) {
    _Atomic uint64_t *place = &names->places[at % PLACES];
    uint64_t word = atomic_load(place);
    if (word == 0) {
      own = own ? own : write_name(bytes, length);
      if (!own) {
        return 0;
      }
      if (atomic_compare_exchange_strong(place, &word, hash | own)) {
        word = hash | own;
      }
    }
    struct name *name = &names->names[word & 0xffff];
    if ((word & ~0xffffull) == hash && memcmp(name->bytes, bytes, length) == 0 && name->bytes[length] == 0) {
      atomic_store(&name->length, (uint32_t)length);
      return (int64_t)(word & 0xffff);
    }
  }
  return 0;
}

static int64_t intern(const struct text *text) {
  return text->fails || !is_printable(text) ? 0 : files_intern(text->bytes, text->length);
}

static void extend_to(int64_t descriptor) {
  int64_t end = atomic_load(&descriptors.end);
  while (end <= descriptor && !atomic_compare_exchange_weak(&descriptors.end, &end, descriptor + 1)) {
  }
}

static void set(int64_t descriptor, int64_t entry) {
  if (descriptor >= 0 && descriptor < DESCRIPTORS) {
    atomic_store(&descriptors.entries[descriptor], entry);
    extend_to(descriptor);
  }
}

/* Gives the descriptor a new negative number, so that any earlier compare-and-swap fails. */
static void set_nameless(int64_t descriptor) { set(descriptor, -1 - atomic_fetch_add(&descriptors.nameless, 1)); }

static int64_t entry_of(int64_t descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? atomic_load(&descriptors.entries[descriptor]) : 0;
}

static void name(int64_t descriptor, int64_t number) {
  if (number > 0) {
    set(descriptor, number);
  } else {
    set_nameless(descriptor);
  }
}

/* The start directory of a relative path, as part of a name. */
static void append_base(struct text *text, int64_t at) {
  const char *base = at == AT_FDCWD ? atomic_load(&directory) : NULL;
  int64_t number = at == AT_FDCWD ? 0 : entry_of(at);
  if (number > 0) {
    base = names->names[number].bytes + strlen(HIERARCHY);
  }
  if (base) {
    append_text(text, base);
  }
  text->fails |= !base;
}

static int64_t intern_at(int64_t at, const char *path) {
  struct text text = {0};
  append_text(&text, HIERARCHY);
  if (path[0] != '/') {
    append_base(&text, at);
  }
  append_path(&text, path);
  return !text.fails && is_plain(&text) ? intern(&text) : 0;
}

int64_t files_intern_path(const char *path) { return intern_at(AT_FDCWD, path); }

static void open_at(int64_t at, const char *path, int64_t descriptor) {
  if (descriptor >= 0) {
    name(descriptor, intern_at(at, path));
  }
}

static void append_ipv4(struct text *text, const uint8_t *address) {
  for (int i = 0; i < 4; i++) {
    append(text, ".", i > 0);
    append_number(text, address[i], 10);
  }
}

/* RFC 5952, except that with several longest runs of zeros any one may be shortened. */
static void append_ipv6(struct text *text, const uint8_t *address) {
  uint32_t groups[8];
  int best = 8, most = 1;
  for (int i = 0, run = 0; i < 8; i++) {
    groups[i] = (uint32_t)address[2 * i] << 8 | address[2 * i + 1];
    run = groups[i] ? 0 : run + 1;
    if (run > most) {
      most = run;
      best = i + 1 - run;
    }
  }
  append(text, "[", 1);
  for (int i = 0; i < 8; i++) {
    if (i == best) {
      append(text, "::", 2);
      i += most - 1;
    } else {
      append(text, ":", i > 0 && i != best + most);
      append_number(text, groups[i], 16);
    }
  }
  append(text, "]", 1);
}

static const uint8_t *mapped_ipv4(const struct in6_addr *address) {
  return IN6_IS_ADDR_V4MAPPED(address) ? &address->s6_addr[12] : NULL;
}

static void append_port(struct text *text, in_port_t port, bool accepted) {
  if (!accepted) {
    append(text, ":", 1);
    append_number(text, ntohs(port), 10);
  }
}

static void append_unix(struct text *text, const struct sockaddr_un *address, size_t length) {
  size_t bytes = length - offsetof(struct sockaddr_un, sun_path);
  if (bytes == 0 || bytes > sizeof address->sun_path) {
    text->fails = true; /* an unbound socket */
    return;
  }
  bool is_abstract = address->sun_path[0] == 0;
  append(text, "@", is_abstract);
  append(text, address->sun_path + is_abstract, strnlen(address->sun_path + is_abstract, bytes - is_abstract));
}

int64_t files_intern_peer(const void *address, int64_t signed_length, int64_t accepted) {
  size_t length = (size_t)signed_length;
  struct sockaddr_storage peer = {0};
  if (!address || length < sizeof peer.ss_family || length > sizeof peer) {
    return 0;
  }
  memcpy(&peer, address, length);
  struct text text = {0};
  append_text(&text, HIERARCHY);
  append_text(&text, "/socket:");
  if (peer.ss_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
    const struct sockaddr_in *inet = (const struct sockaddr_in *)&peer;
    append_ipv4(&text, (const uint8_t *)&inet->sin_addr);
    append_port(&text, inet->sin_port, accepted);
  } else if (peer.ss_family == AF_INET6 && length >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
    const struct sockaddr_in6 *inet = (const struct sockaddr_in6 *)&peer;
    const uint8_t *mapped = mapped_ipv4(&inet->sin6_addr);
    if (mapped) {
      append_ipv4(&text, mapped);
    } else {
      append_ipv6(&text, inet->sin6_addr.s6_addr);
    }
    append_port(&text, inet->sin6_port, accepted);
  } else if (peer.ss_family == AF_UNIX) {
    append_unix(&text, (const struct sockaddr_un *)&peer, length);
  } else {
    return 0;
  }
  return strstr(text.bytes, "@/") ? 0 : intern(&text);
}

static void enter(const char *path) {
  struct text text = {0};
  if (path[0] != '/') {
    append_base(&text, AT_FDCWD);
  }
  append_path(&text, path);
  uint32_t place = text.fails || atomic_load(&entered) >= DIRECTORIES ? DIRECTORIES : atomic_fetch_add(&entered, 1);
  const char *now = NULL;
  if (place < DIRECTORIES) {
    now = memcpy(directories[place], text.bytes, text.length + 1);
  }
  atomic_store(&directory, now);
}

/* Handles events that return a descriptor. */
static void made(uint64_t event, uint64_t a, uint64_t b, uint64_t c, int64_t descriptor) {
  switch (event) {
    case MDL_FILE_OPENED: open_at(AT_FDCWD, (const char *)a, descriptor); break;
    case MDL_FILE_OPENED_AT: open_at((int)a, (const char *)b, descriptor); break;
    case MDL_FILE_DUPLICATED: name(descriptor, entry_of((int)a)); break;
    case MDL_FILE_CONTROLLED:
      if ((int)b == F_DUPFD || (int)b == F_DUPFD_CLOEXEC) {
        name(descriptor, entry_of((int)a));
      }
      break;
    case MDL_FILE_ACCEPTED: name(descriptor, b && c ? files_intern_peer((const void *)b, *(const socklen_t *)c, true) : 0); break;
    default: set_nameless(descriptor); break;
  }
}

static void stream(uint64_t path, int descriptor, uint64_t known) {
  if (known && path) { /* freopen may have no path */
    open_at(AT_FDCWD, (const char *)path, descriptor);
  } else {
    set_nameless(descriptor);
  }
}

static void note(uint64_t event, uint64_t known, uint64_t a, uint64_t b, uint64_t c, uint64_t result) {
  switch (event) {
    case MDL_FILE_STREAM_OPENED:
      if (result) {
        stream(a, fileno_unlocked((FILE *)result), known);
      }
      break;
    case MDL_FILE_DIRECTORY_OPENED:
      if (result) {
        stream(a, dirfd((DIR *)result), known);
      }
      break;
    case MDL_FILE_PAIR_MADE:
      if (known && (int)result == 0) {
        set_nameless(((const int *)a)[0]);
        set_nameless(((const int *)a)[1]);
      }
      break;
    case MDL_FILE_CONNECTED:
      if (known && ((int)result == 0 || errno == EINPROGRESS)) {
        name((int)a, files_intern_peer((const void *)b, (socklen_t)c, false));
      }
      break;
    case MDL_FILE_DIRECTORY_ENTERED:
      if ((int)result == 0) {
        if (known) {
          enter((const char *)a);
        } else {
          atomic_store(&directory, NULL);
        }
      }
      break;
    case MDL_FILE_DIRECTORY_LEFT: atomic_store(&directory, NULL); break;
    case MDL_FILE_CLOSES: set_nameless((int)a); break;
    case MDL_FILE_STREAM_CLOSES:
      if (a) {
        set_nameless(fileno_unlocked((FILE *)a));
      }
      break;
    case MDL_FILE_DIRECTORY_CLOSES:
      if (a) {
        set_nameless(dirfd((DIR *)a));
      }
      break;
    case MDL_FILE_RANGE_CLOSES:
      for (uint64_t i = (uint32_t)a; i <= (uint32_t)b && i < DESCRIPTORS; i++) {
        set_nameless((int64_t)i);
      }
      break;
    default:
      if ((int)result >= 0) {
        if (known) {
          made(event, a, b, c, (int)result);
        } else if (event != MDL_FILE_CONTROLLED) {
          set_nameless((int)result);
        }
      }
      break;
  }
}

uint64_t files_note(uint64_t event, uint64_t known, uint64_t a, uint64_t b, uint64_t c, uint64_t result) {
  int error = errno;
  if (names) {
    note(event, known, a, b, c, result);
  }
  errno = error;
  return 0;
}

bool files_begin(void) {
  if (!names) {
    descriptors.count = DESCRIPTORS;
    table = (uintptr_t)&descriptors;
    names = (struct names *)session_allocate(sizeof *names);
  }
  return names != NULL;
}

uint64_t files_table(void) { return (uintptr_t)&table; }

uint64_t files_name(int64_t number) {
  return names && number > 0 && number <= NAMES ? (uintptr_t)&names->names[number] : 0;
}

int64_t files_capacity(void) { return NAMES; }

int64_t files_taken(void) {
  uint32_t taken = names ? atomic_load(&names->taken) : 0;
  return taken < NAMES ? taken : NAMES;
}

int64_t files_adopt(int64_t descriptor, int64_t was, int64_t number) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) {
    return 0;
  }
  extend_to(descriptor);
  return atomic_compare_exchange_strong(&descriptors.entries[descriptor], &was, number);
}

void files_enter(const char *path) { enter(path); }

void files_forget(void) {
  for (int64_t i = 0, end = atomic_load(&descriptors.end); i < end; i++) {
    if (atomic_load(&descriptors.entries[i])) {
      set_nameless(i);
    }
  }
}
