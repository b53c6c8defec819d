/*
 * Libraries that the application opens and closes while the agent runs.
 *
 * The agent reads the memory of images and replaces their text by copies with sites. Meanwhile it holds the images:
 *
 * Assumes    A1 the dynamic linker unmaps an image under the lock under which dl_iterate_phdr calls back, and counts
 *               it in dlpi_subs (glibc: _dl_close_worker)
 *            A2 x86-TSO (record/lease.c)
 * Guarantees G1 text is replaced only in an image that was there when the agent began to hold, and only where the program has not
 *               changed it since it was copied (code/own_text.c)
 *            G2 dlclose unmaps nothing that is held, unless the agent takes longer than HOLD_NANOS_MAX. What libc closes
 *               by itself (character sets, name services) is not kept from it
 *            G3 a waiting dlopen returns once the loaded libraries have probes, or after ten seconds, with a line in the
 *               log. Its library's constructors have run by then, uncounted
 * Progress   P1 no thread waits for a dead agent, or longer than stated; nor does the agent: if other threads take too
 *               long, it tries again later
 *
 *   dlclose, or dlopen that waits             the agent
 *   1 busy++              (locked)            1 held = true         (locked)
 *   2 held: busy--, wait until it is not, 1   2 busy != 0: wait a little; then held = false, leave
 *   3 close, or open                          3 note dlpi_subs; read, copy, make sites in the copies
 *   4 busy--                                  4 called back, dlpi_subs as noted: replace text
 *                                             5 held = false, wake
 *
 *   dlopen that waits, when it has opened     the agent
 *   5 ticket = ++opened, ring                 6 asleep; or awake, seen = opened
 *   6 wait until followed has come to ticket  7 steps 1 to 5
 *                                             8 followed = seen, wake
 *
 * dlopen depends on its return address: it selects the caller's RUNPATH, namespace and $ORIGIN. So if control must come back
 * here, dlopen is called with a return address in the caller's image, at a return instruction (see way_back).
 */
#include "code/libraries.h"

#include "code/code.h"
#include "code/file_text.h"
#include "code/own_text.h"
#include "code/rebind.h"
#include "code/shown_text.h"
#include "os/gate.h"
#include "os/glibc.h"
#include "os/next.h"
#include "os/self.h"
#include "os/sys.h"
#include "session/kin.h"
#include "session/life.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/options.h"
#include "session/waiters.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RETURN = 0xC3, FINI_BYTES = 16 };
#define PAGE 4096ULL

static const uint64_t OPEN_NANOS_MAX = 10000000000u;
static const uint64_t HOLD_NANOS_MAX = 5000000000u;
static const uint64_t BUSY_NANOS_MAX = 10000000u;

static _Atomic int busy;
static THREAD_LOCAL int own; /* nesting depth of the thread's calls: constructors open libraries, destructors close them */
static _Atomic uint32_t held;
static struct changes {
  uint64_t additions, removals; /* dlpi_adds, dlpi_subs */
} noted;                        /* at the start of the hold */
static _Atomic uint64_t covered; /* additions that have been handled */
static _Atomic uint32_t opened;
static _Atomic uint32_t bell; /* rung when there is work for the agent */
static _Atomic uint32_t followed;
static _Atomic bool following;
static bool hidden; /* the agent's thread alone */

void libraries_forked(void) {
  atomic_store(&busy, 0);
  own = 0;
  atomic_store(&held, 0);
  atomic_store(&following, false);
}

/* True if the word has changed from `value`, false on timeout. */
static bool await_change(_Atomic uint32_t *word, uint32_t value, uint64_t deadline) {
  while (atomic_load(word) == value && !agent_is_dead()) {
    uint64_t now = clock_nanos(CLOCK_MONOTONIC);
    if (now >= deadline) {
      return false;
    }
    futex_wait(word, value, deadline - now);
  }
  return true;
}

/* ---- the dynamic linker's list */

static int read_changes(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)size;
  struct changes *changes = pointer;
  *changes = (struct changes){info->dlpi_adds, info->dlpi_subs};
  return 1;
}

/* Application threads call this without the gate, because its holder may wait for a lock that this thread holds. */
static struct changes changes_now(void) {
  struct changes changes = {0, 0};
  if (is_agent_thread) {
    gate_lock();
  }
  next()->dl_iterate_phdr(read_changes, &changes);
  if (is_agent_thread) {
    gate_unlock();
  }
  return changes;
}

int64_t libraries_counters(void) {
  struct changes changes = changes_now();
  return (int64_t)(changes.additions << 32 ^ changes.removals);
}

struct images {
  struct mdl_image *out;
  int64_t capacity, count;
};

static int add_image(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)size;
  struct images *images = pointer;
  if (images->count < images->capacity) {
    struct mdl_image *image = &images->out[images->count];
    image->bias = info->dlpi_addr;
    image->headers = (uintptr_t)info->dlpi_phdr;
    image->count = info->dlpi_phnum;
    snprintf(image->path, sizeof image->path, "%s", info->dlpi_name[0] ? info->dlpi_name : session->program);
  }
  images->count++;
  return 0;
}

int64_t libraries_list(struct mdl_image *out, int64_t capacity) {
  struct images images = {.out = out, .capacity = capacity};
  gate_lock();
  next()->dl_iterate_phdr(add_image, &images);
  gate_unlock();
  return images.count;
}

/* ---- held images */

int64_t libraries_hold(void) {
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + BUSY_NANOS_MAX;
  atomic_store(&held, 1);
  while (atomic_load(&busy) != 0) {
    if (clock_nanos(CLOCK_MONOTONIC) >= deadline) {
      libraries_release();
      return 0;
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
  }
  noted = changes_now();
  if (process_was_attached) {
    rebind_wrappers();
  }
  return 1;
}

/* Steps 1 and 2. */
static void become_busy(void) {
  int error = errno;
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + HOLD_NANOS_MAX;
  atomic_fetch_add(&busy, 1);
  while (atomic_load(&held) && !agent_is_dead()) {
    atomic_fetch_sub(&busy, 1);
    bool is_over = !await_change(&held, 1, deadline);
    atomic_fetch_add(&busy, 1);
    if (is_over) {
      break;
    }
  }
  errno = error;
}

/* The agent waits for busy threads, so a nested call of such a thread must not wait for the agent. */
static void begin_call(void) {
  if (own++ == 0) {
    become_busy();
  }
}

static void end_call(void) {
  if (--own == 0) {
    atomic_fetch_sub(&busy, 1);
  }
}

void libraries_release(void) {
  atomic_store(&held, 0);
  futex_wake(&held);
}

int64_t libraries_copy(struct mdl_text *text) {
  int64_t alias = code_copy(text->start, text->length, text->alias);
  if (alias < 0) {
    return alias;
  }
  text->alias = (uint64_t)alias;
  text->mark = own_text_mark(text->start, text->length, (const void *)alias);
  return text->mark ? 0 : -ETXTBSY;
}

struct replacements {
  struct mdl_text *texts;
  int64_t count, result;
};

static int replace(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)size;
  struct replacements *replacements = pointer;
  replacements->result = info->dlpi_subs == noted.removals ? 0 : -ESTALE;
  for (int64_t i = 0; i < replacements->count && replacements->result == 0; i++) {
    struct mdl_text *text = &replacements->texts[i];
    if (own_text_mark(text->start, text->length, (const void *)text->start) == text->mark) {
      replacements->result = code_show(text->start, text->length, text->alias);
    } else {
      text->mark = 0;
    }
    if (replacements->result == -EPERM) { /* sealed by mseal(2) */
      text->mark = 0;
      replacements->result = 0;
    }
  }
  return 1;
}

/* The same number for the same image at the same address in all processes. */
static uint64_t identity(const struct dl_phdr_info *info) {
  uint64_t hash = 0xCBF29CE484222325ULL ^ info->dlpi_addr; /* FNV-1a */
  for (const char *c = info->dlpi_name; *c; c++) {
    hash = (hash ^ (uint8_t)*c) * 0x100000001B3ULL;
  }
  for (size_t i = 0; i < info->dlpi_phnum * sizeof *info->dlpi_phdr; i++) {
    hash = (hash ^ ((const uint8_t *)info->dlpi_phdr)[i]) * 0x100000001B3ULL;
  }
  return hash;
}

/* Whether all of the bytes are code of the image. */
static bool has_text(const struct dl_phdr_info *info, uint64_t start, uint64_t length) {
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uint64_t from = (info->dlpi_addr + header->p_vaddr) & -PAGE;
    uint64_t to = (info->dlpi_addr + header->p_vaddr + header->p_memsz + PAGE - 1) & -PAGE;
    if (header->p_type == PT_LOAD && (header->p_flags & PF_X) && from <= start && start + length <= to) {
      return true;
    }
  }
  return false;
}

static int note_original(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)size;
  const struct replacements *replacements = pointer;
  for (int64_t i = 0; i < replacements->count; i++) {
    if (has_text(info, replacements->texts[i].start, replacements->texts[i].length)) {
      shown_text_note(info->dlpi_name, replacements->texts[i].start, replacements->texts[i].length);
    }
  }
  return 0;
}

static int note(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)size;
  const struct replacements *replacements = pointer;
  for (int64_t i = 0; i < replacements->count; i++) {
    const struct mdl_text *text = &replacements->texts[i];
    if (text->mark && has_text(info, text->start, text->length)) {
      kin_note(KIN_TEXT, text->start, text->length, text->alias - code_text_alias(), identity(info) ^ text->mark);
    }
  }
  return 0;
}

int64_t libraries_show(struct mdl_text *texts, int64_t n) {
  struct replacements replacements = {texts, n, -EPERM};
  if (atomic_load(&held)) {
    gate_lock();
    if (!hidden) {
      next()->dl_iterate_phdr(note_original, &replacements);
    }
    next()->dl_iterate_phdr(replace, &replacements);
    if (replacements.result == 0 && !hidden) {
      next()->dl_iterate_phdr(note, &replacements);
    }
    hidden = hidden && replacements.result != 0;
    gate_unlock();
  }
  return replacements.result;
}

/* ---- the files' text again */

struct restoration {
  struct mdl_text *texts;
  int64_t count, result;
  void **files;
};

static uint64_t offset_in_file(const struct dl_phdr_info *info, uint64_t address) {
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    uint64_t start = (info->dlpi_addr + header->p_vaddr) & -PAGE;
    if (header->p_type == PT_LOAD && address >= start && address < info->dlpi_addr + header->p_vaddr + header->p_memsz) {
      return (header->p_offset & -PAGE) + (address - start);
    }
  }
  return 0;
}

static int map_files(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)size;
  struct restoration *restoration = pointer;
  if (info->dlpi_subs != noted.removals) {
    restoration->result = -ESTALE;
    return 1;
  }
  for (int64_t i = 0; i < restoration->count; i++) {
    struct mdl_text *text = &restoration->texts[i];
    if (!has_text(info, text->start, text->length)) {
      continue;
    }
    if (!file_text_is_copy(text)) {
      text->alias = 0;
      continue;
    }
    const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    restoration->files[i] = file_text_map(path, offset_in_file(info, text->start), text);
    if (!restoration->files[i]) {
      text->mark = 0;
      restoration->result = -ENOENT;
      return 1;
    }
  }
  return 0;
}

/* All, or none. */
static int put_files(struct dl_phdr_info *info, size_t size, void *pointer) {
  (void)info;
  (void)size;
  struct restoration *restoration = pointer;
  int64_t i = 0;
  for (; i < restoration->count && restoration->result == 0; i++) {
    if (restoration->files[i]) {
      restoration->result = file_text_put(restoration->files[i], &restoration->texts[i]);
      restoration->files[i] = restoration->result == 0 ? NULL : restoration->files[i];
    }
  }
  while (restoration->result != 0 && --i >= 0) {
    const struct mdl_text *text = &restoration->texts[i];
    if (!restoration->files[i] && text->alias) {
      code_show(text->start, text->length, text->alias);
    }
  }
  return 1;
}

int64_t libraries_hide(struct mdl_text *texts, int64_t n) {
  struct restoration restoration = {texts, n, -EPERM, calloc((size_t)n + 1, sizeof(void *))};
  if (!restoration.files) {
    return -ENOMEM;
  }
  if (atomic_load(&held)) {
    restoration.result = 0;
    gate_lock();
    next()->dl_iterate_phdr(map_files, &restoration);
    if (restoration.result == 0) {
      next()->dl_iterate_phdr(put_files, &restoration);
    }
    gate_unlock();
    for (int64_t i = 0; i < n; i++) {
      if (restoration.files[i]) {
        file_text_discard(restoration.files[i], &texts[i]);
      }
    }
    hidden = restoration.result == 0;
  }
  free(restoration.files);
  return restoration.result;
}

static int put_all(struct dl_phdr_info *info, size_t size, void *file) {
  (void)size;
  uint64_t image = identity(info);
  for (uint32_t i = 0; i < kin_pieces(); i++) {
    const struct kin_piece *piece = &kin->piece[i];
    if (piece->kind == KIN_TEXT && has_text(info, piece->start, piece->length) &&
        piece->image == (image ^ own_text_mark(piece->start, piece->length, (const void *)piece->start))) {
      code_put(piece->start, piece->length, *(const int *)file, piece->at);
    }
  }
  return 0;
}

void libraries_join(int file) { next()->dl_iterate_phdr(put_all, &file); }

EXPORT int dlclose(void *library) {
  if (is_agent_thread) {
    gate_lock();
    int result = next()->dlclose(library);
    gate_unlock();
    return result;
  }
  begin_call();
  int result = next()->dlclose(library);
  end_call();
  return result;
}

/* ---- libraries whose opening thread waits */

void libraries_begin(void) { atomic_store(&following, true); }

uint32_t libraries_openings(void) { return atomic_load(&opened); }

uint32_t libraries_openings_followed(void) { return atomic_load(&followed); }

uint32_t libraries_bell(void) { return atomic_load(&bell); }

void libraries_sleep(uint32_t seen, uint64_t nanos) { futex_wait(&bell, seen, nanos); }

void libraries_interrupt(void) {
  atomic_fetch_add(&bell, 1);
  futex_wake(&bell);
}

void libraries_followed(uint64_t seen) {
  atomic_store(&covered, noted.additions);
  atomic_store(&followed, (uint32_t)seen);
  futex_wake(&followed);
  waiters_look_again();
}

bool libraries_await_look(uint64_t nanos) {
  uint32_t ticket = atomic_fetch_add(&opened, 1) + 1;
  uint64_t deadline = clock_nanos(CLOCK_MONOTONIC) + nanos;
  libraries_interrupt();
  for (uint32_t seen; (int32_t)((seen = atomic_load(&followed)) - ticket) < 0 && !agent_is_dead();) {
    if (!await_change(&followed, seen, deadline)) {
      return false;
    }
  }
  return true;
}

static void await_probes(const char *file) {
  int error = errno;
  bool is_nested = own > 0;
  atomic_fetch_sub(&busy, is_nested);
  if (!libraries_await_look(OPEN_NANOS_MAX)) {
    log_line("the program goes on before the probes are in place of ", file ? file : "the program", NULL);
  }
  if (is_nested) {
    become_busy();
  }
  errno = error;
}

/*
 * A return instruction in the image that contains `address`: the one of _fini, which every image has from crtn.o. _fini has
 * no unwind table, so a backtrace from a constructor ends cleanly there. NULL if there is none.
 */
static __attribute__((noinline)) const uint8_t *way_back(void *address) {
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
    return NULL;
  }
  for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_FINI) {
      return memchr((const void *)(map->l_addr + entry->d_un.d_ptr), RETURN, FINI_BYTES);
    }
  }
  return NULL;
}

/* With a shadow stack (CET), returning to an address without a call ends the process. */
static bool has_shadow_stack(void) {
  uint64_t pointer = 0;
  __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* a NOP without CET */
  return pointer != 0;
}

/* Calls open(file, mode), which returns to `way`, and from there to here. */
__attribute__((naked, noinline)) static void *open_by(__attribute__((unused)) const char *file,
                                                      __attribute__((unused)) int mode,
                                                      __attribute__((unused)) void *(*open)(const char *, int),
                                                      __attribute__((unused)) const uint8_t *way) {
  __asm__("leaq 1f(%rip), %rax\n\t"
          "pushq %rax\n\t"
          ".cfi_adjust_cfa_offset 8\n\t"
          "pushq %rcx\n\t"
          ".cfi_adjust_cfa_offset 8\n\t"
          "jmp *%rdx\n"
          "1:\n\t"
          ".cfi_adjust_cfa_offset -16\n\t"
          "ret");
}

static __attribute__((noinline)) void *open_and_await(const char *file, int mode, const uint8_t *way) {
  begin_call();
  void *library = open_by(file, mode, next()->dlopen, way);
  end_call();
  if (library && process_was_attached) {
    rebind_wrappers();
  }
  /* The library may have been loaded already by another thread that still waits. */
  if (library && options.wait && changes_now().additions != atomic_load(&covered)) {
    await_probes(file);
  }
  return library;
}

static __attribute__((noinline)) void *open_by_agent(const char *file, int mode) {
  gate_lock();
  void *library = next()->dlopen(file, mode);
  if (process_was_attached) {
    rebind_wrappers();
  }
  gate_unlock();
  return library;
}

/* Work that needs the stack is done elsewhere, so that libc is called by a tail call. */
EXPORT void *dlopen(const char *file, int mode) {
  if (is_agent_thread) {
    return open_by_agent(file, mode);
  }
  bool waits = options.wait && atomic_load(&following) && !agent_is_dead();
  bool comes_back = (waits || process_was_attached) && !has_shadow_stack();
  const uint8_t *way = comes_back ? way_back(__builtin_return_address(0)) : NULL;
  return way ? open_and_await(file, mode, way) : next()->dlopen(file, mode);
}
