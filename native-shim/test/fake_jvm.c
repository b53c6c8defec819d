/*
 * Stands in for libjvm.so and the Java agent, and does to the process what a JVM does, or may do, at its
 * worst. FAKE_JVM is a comma-separated list of behaviours. Failed checks are appended to the session's log as
 * "FAKE: ...".
 */
#include <mdl/api.h>

#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char behaviour[256]; /* the application may change the environment */
static const struct mdl_api *api;
static JavaVMInitArgs *arguments;

static void read_behaviour(void) {
  static const char name[] = "FAKE_JVM=";
  for (char **at = environ; *at; at++) { /* getenv is interposed by the shim */
    if (strncmp(*at, name, sizeof name - 1) == 0) {
      strncpy(behaviour, *at + sizeof name - 1, sizeof behaviour - 1);
    }
  }
}

static bool does(const char *what) {
  size_t length = strlen(what);
  for (const char *at = behaviour; (at = strstr(at, what)) != NULL; at += length) {
    if ((at == behaviour || at[-1] == ',') && (at[length] == ',' || at[length] == 0)) {
      return true;
    }
  }
  return false;
}

static char complaints[1024];

static void complain(const char *what) {
  strcat(complaints, "FAKE: ");
  strcat(complaints, what);
  strcat(complaints, "\n");
}

static void *hook(const char *name) {
  for (int i = 0; i < arguments->nOptions; i++) {
    if (strcmp(arguments->options[i].optionString, name) == 0) {
      return arguments->options[i].extraInfo;
    }
  }
  complain("a hook is missing");
  return NULL;
}

static void print(const char *format, ...) {
  jint (*function)(FILE *, const char *, va_list);
  *(void **)&function = hook("vfprintf");
  va_list values;
  va_start(values, format);
  function(stdout, format, values);
  va_end(values);
}

/* ---- signals */

static sigjmp_buf recovery;
static volatile int own_faults;

static void on_fault(int signal) {
  own_faults++;
  siglongjmp(recovery, signal);
}

static void on_other(int signal) {
  (void)signal;
  static const char text[] = "the JVM took the program's signal\n";
  if (write(1, text, sizeof text - 1) < 0) {
    abort();
  }
  _exit(98);
}

static void take_signals(void) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  static const int others[] = {SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2, SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGALRM, SIGCHLD};
  struct sigaction action, old;
  memset(&action, 0, sizeof action);
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    action.sa_handler = on_fault;
    if (sigaction(faults[i], &action, &old) != 0 || old.sa_handler != SIG_DFL) {
      complain("the JVM sees the program's action");
    }
    if (sigaction(faults[i], NULL, &old) != 0 || old.sa_handler != on_fault) {
      complain("the JVM does not see its own action");
    }
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    action.sa_handler = on_other;
    sigaction(others[i], &action, NULL);
  }
  sigset_t all, now;
  sigfillset(&all);
  pthread_sigmask(SIG_UNBLOCK, &all, NULL);
  sigemptyset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  if (!sigismember(&now, SIGTERM) || !sigismember(&now, SIGCHLD)) {
    complain("an agent thread takes signals");
  }
  for (int i = 0; i < 100; i++) { /* like implicit null checks */
    if (sigsetjmp(recovery, 1) == 0) {
      int *volatile null = NULL;
      *null = 1;
    }
  }
  if (own_faults != 100) {
    complain("a fault of the JVM did not reach it");
  }
}

/* ---- other things to do to a process */

static void exit_destructor(void *unused) {
  (void)unused;
  static const char text[] = "a destructor of the JVM ran\n";
  if (write(1, text, sizeof text - 1) < 0) {
    abort();
  }
}

int __cxa_atexit(void (*)(void *), void *, void *);

static void touch_globals(void) {
  struct rlimit limit = {17, 17};
  __cxa_atexit(exit_destructor, NULL, NULL);
  setlocale(LC_ALL, "C.UTF-8");
  setrlimit(RLIMIT_NOFILE, &limit);
  if (getenv("PATH") || secure_getenv("PATH")) {
    complain("the environment is read, which the application may be changing");
  }
  umask(0777);
  if (chdir("/") != 0) {
    complain("chdir failed");
  }
}

static void print_everywhere(void) {
  static const char text[] = "printed by the JVM\n";
  if (write(1, text, sizeof text - 1) < 0 || write(2, text, sizeof text - 1) < 0) {
    complain("descriptors 1 and 2 cannot be written");
  }
  print("a message of the JVM%s", "\n");
  fflush(stdout);
  fflush(NULL);
}

static void take_descriptors(void) {
  for (int i = 0; i < 20; i++) {
    int file = open("/dev/null", O_RDONLY);
    if (file < 0) {
      complain("no descriptors");
    }
  }
}

static void *live_on(void *unused) {
  for (;;) {
    usleep(1000);
  }
  return unused;
}

static void make_threads(void) {
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, live_on, NULL) != 0) {
      complain("no thread");
    }
  }
}

static void end_the_process(void) {
  if (does("exit")) {
    exit(99);
  }
  if (does("_exit")) {
    _exit(99);
  }
  if (does("abort")) {
    abort();
  }
  if (does("exit-hook")) {
    void (*function)(jint);
    *(void **)&function = hook("exit");
    function(1);
  }
  if (does("abort-hook")) {
    void (*function)(void);
    *(void **)&function = hook("abort");
    function();
  }
}

/* ---- the part of JNI that is used */

static struct JNINativeInterface_ functions;
static struct JNIInvokeInterface_ invocations;
static const struct JNINativeInterface_ *environment = &functions;
static const struct JNIInvokeInterface_ *machine = &invocations;
static bool thrown;

static jclass JNICALL find_class(JNIEnv *env, const char *name) {
  (void)env;
  bool exists = strcmp(name, "org/mdlagent/runtime/agent/Agent") == 0 || strcmp(name, "org/mdlagent/arch/shim/NativeApi") == 0;
  thrown = does("no-class") || !exists;
  return thrown ? NULL : (jclass)&functions;
}

static jint JNICALL register_natives(JNIEnv *env, jclass type, const JNINativeMethod *methods, jint count) {
  (void)env;
  (void)type;
  bool is_known = count == 1 && strcmp(methods->name, "call") == 0 && strcmp(methods->signature, "(JJJJ)J") == 0;
  thrown = does("no-native") || !is_known;
  return thrown ? JNI_ERR : JNI_OK;
}

static jmethodID JNICALL get_method(JNIEnv *env, jclass type, const char *name, const char *signature) {
  (void)env;
  (void)type;
  return strcmp(name, "start") == 0 && strcmp(signature, "(J)V") == 0 ? (jmethodID)&functions : NULL;
}

static void catch_traps(void) {
  int64_t (*call)(void);
  memcpy(&call, &api->catch_traps, sizeof call);
  if (call() != 0) {
    complain("SIGTRAP cannot be had");
  }
}

static void JNICALL call_start(JNIEnv *env, jclass type, jmethodID method, const jvalue *values) {
  (void)env;
  (void)type;
  (void)method;
  api = (const struct mdl_api *)(uintptr_t)values[0].j;
  if (api->size != sizeof *api) {
    complain("the table has another size");
  }
  if (does("worst")) {
    catch_traps();
  }
  if (complaints[0]) {
    FILE *log = fopen((const char *)api->log_path, "a");
    fputs(complaints, log);
    fclose(log);
  }
  if (does("late-exit")) {
    exit(99);
  }
  if (does("return")) {
    return;
  }
  if (does("throw")) {
    thrown = true;
    return;
  }
  void (*call)(void);
  memcpy(&call, &api->ready, sizeof call);
  call();
  memcpy(&call, &api->renew_clocks, sizeof call);
  for (int beats = 0;; beats++) {
    usleep(1000);
    if (!does("stuck") || beats < 1500) { /* longer than the watchdog's intervals, so that it has begun */
      call();
    }
  }
}

static jthrowable JNICALL exception_occurred(JNIEnv *env) {
  (void)env;
  return thrown ? (jthrowable)&functions : NULL;
}

static void JNICALL exception_clear(JNIEnv *env) {
  (void)env;
  thrown = false;
}

static jclass JNICALL get_class(JNIEnv *env, jobject object) {
  (void)env;
  return (jclass)object;
}

static jmethodID JNICALL get_to_string(JNIEnv *env, jclass type, const char *name, const char *signature) {
  (void)env;
  (void)name;
  (void)signature;
  return (jmethodID)type;
}

static jobject JNICALL call_to_string(JNIEnv *env, jobject object, jmethodID method, ...) {
  (void)env;
  (void)method;
  return object;
}

static const char *JNICALL get_characters(JNIEnv *env, jstring string, jboolean *copied) {
  (void)env;
  (void)string;
  (void)copied;
  return "java.lang.IllegalStateException: a test";
}

jint JNICALL JNI_CreateJavaVM(JavaVM **vm, void **env, void *args) {
  arguments = args;
  read_behaviour();
  if (does("worst")) {
    take_signals();
    touch_globals();
    print_everywhere();
    take_descriptors();
    make_threads();
  }
  end_the_process();
  if (does("error")) {
    return JNI_ENOMEM;
  }
  functions.FindClass = find_class;
  functions.RegisterNatives = register_natives;
  functions.GetStaticMethodID = get_method;
  functions.CallStaticVoidMethodA = call_start;
  functions.ExceptionOccurred = exception_occurred;
  functions.ExceptionClear = exception_clear;
  functions.GetObjectClass = get_class;
  functions.GetMethodID = get_to_string;
  functions.CallObjectMethod = call_to_string;
  functions.GetStringUTFChars = get_characters;
  *vm = (JavaVM *)&machine;
  *env = &environment;
  return JNI_OK;
}
