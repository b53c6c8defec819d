/* Says "ready", then starts and ends as many threads as the argument says, four at a time. Each calls work() 100 to 500 times; every
 * third one ends by pthread_exit(). In the end it prints how often work() was called, and what the process held after a tenth of the
 * threads and holds now: descriptors, mappings, KiB of memory. It ends with its input. */
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_PROBES __attribute__((no_instrument_function))
#define AT_A_TIME 4

static __thread volatile long sink;
__attribute__((noinline)) void leaf(long x) { sink += x; }
__attribute__((noinline)) void work(long x) {
  leaf(x);
  leaf(x + 1);
}

NO_PROBES static void *body(void *number) {
  for (uintptr_t n = 0; n < 100 * ((uintptr_t)number % 5 + 1); n++) work((long)n);
  if ((uintptr_t)number % 3 == 0) pthread_exit(NULL);
  return NULL;
}

NO_PROBES static int entries(const char *path) {
  DIR *directory = opendir(path);
  int count = 0;
  while (directory && readdir(directory)) count++;
  if (directory) closedir(directory);
  return count;
}

/* The most of any thread: the agent's have a table of their own. */
NO_PROBES static int descriptors(void) {
  DIR *tasks = opendir("/proc/self/task");
  int most = 0;
  for (struct dirent *task; (task = readdir(tasks));) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/fd", task->d_name);
    int count = entries(path);
    if (count > most) most = count;
  }
  closedir(tasks);
  return most;
}

/* Lines of a file that begin so, or the number in the first one. */
NO_PROBES static long lines(const char *path, const char *beginning, int number) {
  FILE *file = fopen(path, "r");
  char line[4096];
  long count = 0;
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, beginning, strlen(beginning)) != 0) continue;
    count = number ? atol(line + strlen(beginning)) : count + 1;
  }
  if (file) fclose(file);
  return count;
}

struct held {
  int descriptors;
  long mappings, kib;
};

NO_PROBES static struct held look(void) {
  return (struct held){descriptors(), lines("/proc/self/maps", "", 0), lines("/proc/self/status", "VmRSS:", 1)};
}

NO_PROBES static void say(struct held held) { printf("%d %ld %ld\n", held.descriptors, held.mappings, held.kib); }

NO_PROBES int main(int argc, char **argv) {
  pthread_t threads[AT_A_TIME];
  struct held early = {0};
  if (argc < 2) return 2;
  long calls = 0;
  int count = atoi(argv[1]);
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < count; i++) {
    pthread_t *thread = &threads[i % AT_A_TIME];
    if (i >= AT_A_TIME) pthread_join(*thread, NULL);
    if (pthread_create(thread, NULL, body, (void *)(uintptr_t)i) != 0) return 3;
    calls += 100 * (i % 5 + 1);
    if (i == count / 10) early = look();
  }
  for (int i = 0; i < AT_A_TIME; i++) pthread_join(threads[i], NULL);
  printf("%ld\n", calls);
  say(early);
  say(look());
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
