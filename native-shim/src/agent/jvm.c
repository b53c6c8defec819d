#include "agent/jvm.h"

#include "agent/native_call.h"
#include "code/death.h"
#include "code/rebind.h"
#include "os/agent_threads.h"
#include "os/gate.h"
#include "os/library.h"
#include "os/own_memory.h"
#include "os/self.h"
#include "session/log.h"
#include "session/memory.h"
#include "session/options.h"

#include "jvm-options.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <jni.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPTIONS_MAX = 64 };

static char text[32768];
static size_t text_length;
static JavaVMOption jvm_options[OPTIONS_MAX];
static int option_count;

/* ---- the JVM's effects on the process */

static jint log_message(FILE *stream, const char *format, va_list arguments) {
  (void)stream;
  char message[1024];
  int length = vsnprintf(message, sizeof message, format, arguments);
  for (char *c = message; *c; c++) {
    if (*c == '\n') {
      *c = ' ';
    }
  }
  log_line("JVM: ", message, NULL);
  return length;
}

static void give_up(const char *why) {
  if (!atomic_load(&process_exiting)) {
    agent_died(why, NULL);
  }
  agent_threads_park();
}

static void on_abort(void) { give_up("the JVM aborts"); }

static void on_exit_request(jint status) { give_up(status ? "the JVM has failed" : "the JVM has ended"); }

static void add_hook(const char *name, void *function) {
  jvm_options[option_count++] = (JavaVMOption){.optionString = (char *)(uintptr_t)name, .extraInfo = function};
}

/* Forked children have no JVM threads and never enter the JVM. So its heap and code are not inherited: otherwise each fork
 * would copy their page tables, and the child's exit would free them. Stacks of JVM threads are excluded already
 * (os/agent_stacks.h). */
static void *map_for_this_process(void *address, size_t length, int protection, int flags, int file, off_t offset) {
  void *memory = own_memory_map(address, length, protection, flags, file, offset, OF_JVM);
  if (memory != MAP_FAILED) {
    madvise(memory, length, MADV_DONTFORK);
  }
  return memory;
}

/* ---- options */

static bool starts_with(const char *line, size_t length, const char *prefix) {
  size_t prefix_length = strlen(prefix);
  return length >= prefix_length && memcmp(line, prefix, prefix_length) == 0;
}

static void append(const char *from, size_t length) {
  if (length < sizeof text - text_length) {
    memcpy(text + text_length, from, length);
    text_length += length;
  }
}

static void add_option(const char *line, size_t length, const char *runtime) {
  if (option_count == OPTIONS_MAX) {
    return;
  }
  char *option = text + text_length;
  for (size_t i = 0; i < length;) {
    static const char runtime_mark[] = "@RUNTIME@", session_mark[] = "@SESSION@";
    if (starts_with(line + i, length - i, runtime_mark)) {
      append(runtime, strlen(runtime));
      i += sizeof runtime_mark - 1;
    } else if (starts_with(line + i, length - i, session_mark)) {
      append(session->directory, strlen(session->directory));
      i += sizeof session_mark - 1;
    } else {
      append(line + i++, 1);
    }
  }
  append("", 1);
  jvm_options[option_count++] = (JavaVMOption){.optionString = option};
}

static void add_options(const char *options_text, const char *separators, const char *runtime, bool without_cache) {
  for (const char *at = options_text; *at;) {
    size_t length = strcspn(at, separators);
    if (length > 0 && *at != '#' && !(without_cache && starts_with(at, length, "-XX:AOT"))) {
      add_option(at, length, runtime);
    }
    at += length;
    at += strspn(at, separators);
  }
}

static void add_property(const char *name, const char *value) {
  char line[PATH_MAX + 64];
  int length = snprintf(line, sizeof line, "-D%s=%s", name, value);
  add_option(line, (size_t)length, "");
}

/* The agent needs 1 KiB of heap per function, and the shortest functions have 12 bytes of text. Libraries with less text
 * than libc are ignored. Libraries opened later count if the options reserve room for them. */
enum { HEAP_MIB = 64, HEAP_MIB_MAX = 1024, HEAP_OF_TEXT = 96, HEAP_OF_FUNCTION = 1152, LIBRARY_TEXT = 2 << 20, MEMORY_SHARE = 8, SPACE_SHARE = 16 };

static int add_text(struct dl_phdr_info *info, size_t size, void *sum) {
  (void)size;
  uint64_t text_bytes = 0, *bytes = sum;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
      text_bytes += info->dlpi_phdr[i].p_memsz;
    }
  }
  bool is_program = !info->dlpi_name || !*info->dlpi_name;
  uint64_t usual = is_program ? 0 : LIBRARY_TEXT;
  *bytes += text_bytes > usual ? text_bytes - usual : 0;
  return 0;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Maximum heap size: scaled to the program, so that large programs can be profiled and small ones get a small agent. */
static uint64_t heap_mib_max(void) {
  uint64_t bytes = 0;
  gate_lock();
  dl_iterate_phdr(add_text, &bytes);
  gate_unlock();
  uint64_t later = (uint64_t)options.library_functions * HEAP_OF_FUNCTION;
  uint64_t mib = smaller(HEAP_MIB + ((bytes * HEAP_OF_TEXT + later) >> 20), HEAP_MIB_MAX);
  mib = smaller(mib, (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE >> 20);
  struct rlimit space;
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    mib = smaller(mib, space.rlim_cur / SPACE_SHARE >> 20);
  }
  return mib > HEAP_MIB ? mib : HEAP_MIB;
}

static void add_heap(uint64_t mib) {
  char line[32];
  int length = snprintf(line, sizeof line, "-Xmx%llum", (unsigned long long)mib);
  add_option(line, (size_t)length, "");
}

static void collect_options(const char *runtime, uint64_t heap_mib) {
  text_length = 0; /* the process that forked this one may have started */
  option_count = 0;
  add_hook("vfprintf", (void *)log_message);
  add_hook("exit", (void *)on_exit_request);
  add_hook("abort", (void *)on_abort);
  add_property("mdl.config", options.config);
  add_property("mdl.home", options.home);
  add_property("mdl.state.home", options.state_home);
  /* Other classes may find other facts about images. */
  add_property("mdl.facts", strstr(options.jvm_extra, "--patch-module") ? "false" : "true");
  /* The JVM cannot use and create a cache at the same time. */
  bool makes_cache = strstr(options.jvm_extra, "-XX:AOT") != NULL;
  add_options(jvm_options_text, "\n", runtime, makes_cache);
  add_heap(heap_mib);
  add_options(options.jvm_extra, " \t\n", runtime, false);
}

/* ---- the call into Java */

static void describe(JNIEnv *env, const char *what) {
  jthrowable thrown = (*env)->ExceptionOccurred(env);
  if (!thrown) {
    agent_died(what, NULL);
    return;
  }
  (*env)->ExceptionClear(env);
  jclass type = (*env)->GetObjectClass(env, thrown);
  jmethodID to_string = (*env)->GetMethodID(env, type, "toString", "()Ljava/lang/String;");
  jstring message = to_string ? (*env)->CallObjectMethod(env, thrown, to_string) : NULL;
  const char *characters = message ? (*env)->GetStringUTFChars(env, message, NULL) : NULL;
  agent_died(what, characters);
}

static bool register_natives(JNIEnv *env) {
  static const JNINativeMethod call = {
      .name = (char *)(uintptr_t)"call", .signature = (char *)(uintptr_t)"(JJJJ)J", .fnPtr = (void *)native_call};
  jclass api = (*env)->FindClass(env, "org/mdlagent/arch/shim/NativeApi");
  return api && (*env)->RegisterNatives(env, api, &call, 1) == JNI_OK;
}

static void call_agent(JNIEnv *env, const struct mdl_api *api) {
  if (!register_natives(env)) {
    describe(env, "the runtime image has no org.mdlagent.arch.shim.NativeApi.call");
    return;
  }
  jclass agent = (*env)->FindClass(env, "org/mdlagent/runtime/agent/Agent");
  jmethodID start = agent ? (*env)->GetStaticMethodID(env, agent, "start", "(J)V") : NULL;
  if (!start) {
    describe(env, "the runtime image has no org.mdlagent.runtime.agent.Agent.start(long)");
    return;
  }
  jvalue argument = {.j = (jlong)(uintptr_t)api};
  (*env)->CallStaticVoidMethodA(env, agent, start, &argument);
  describe(env, "Agent.start has ended");
}

typedef jint (*create_java_vm)(JavaVM **, void **, void *);

/* Whether a file has all bytes of its segments. The dynamic linker maps missing pages of a truncated file, and dies of
 * SIGBUS. */
static bool is_whole(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  struct stat status;
  Elf64_Ehdr header;
  bool whole = fstat(file, &status) == 0 && pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header &&
               memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  for (unsigned i = 0; whole && i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    whole = pread(file, &segment, sizeof segment, (off_t)(header.e_phoff + i * sizeof segment)) ==
                (ssize_t)sizeof segment &&
            (segment.p_type != PT_LOAD || segment.p_offset + segment.p_filesz <= (uint64_t)status.st_size);
  }
  close(file);
  return whole;
}

static char *no_variable(const char *name) {
  (void)name;
  return NULL;
}

/* A program (such as a shell) may export its own getenv, which precedes the shim's: the JVM would then read options from
 * an environment that the program may be changing. These libraries call getenv. */
static void hide_environment(const char *runtime) {
  static const char *const libraries[] = {"server/libjvm.so", "libjava.so", "libjimage.so"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/lib/%s", runtime, libraries[i]);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      rebind(library, "getenv", (const void *)no_variable);
      rebind(library, "secure_getenv", (const void *)no_variable);
    }
  }
}

void jvm_run(const struct mdl_api *api) {
  char runtime[PATH_MAX + 32], library[PATH_MAX + 64];
  snprintf(runtime, sizeof runtime, "%s/../runtime", library_directory);
  snprintf(library, sizeof library, "%s/lib/server/libjvm.so", runtime);

  if (!is_whole(library)) {
    agent_died("there is no JVM, or it is damaged", library);
    return;
  }
  uint64_t heap_mib = heap_mib_max(); /* before the JVM's own text is loaded */
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    agent_died("there is no JVM", dlerror());
    return;
  }
  create_java_vm create;
  *(void **)&create = dlsym(handle, "JNI_CreateJavaVM");
  if (!create) {
    agent_died("there is no JVM", dlerror());
    return;
  }
  hide_environment(runtime);
  rebind(handle, "mmap64", (const void *)map_for_this_process);
  rebind(handle, "munmap", (const void *)own_memory_unmap);
  collect_options(runtime, heap_mib);
  JavaVMInitArgs arguments = {.version = JNI_VERSION_10, .nOptions = option_count, .options = jvm_options};
  JavaVM *vm;
  JNIEnv *env;
  jint error = create(&vm, (void **)&env, &arguments);
  if (error != JNI_OK) {
    agent_died("the JVM cannot be created", decimal(error).text);
    return;
  }
  call_agent(env, api);
}
