/* Does what the kernel counts, as often as a line of stdin says, and answers with what getrusage says of the thread that
 * did it: its page faults and context switches since the line before. "allowed" asks for a counter, "forked" and
 * "threaded" do the work elsewhere. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

struct work {
  int faults;
  int switches;
  struct rusage done;
};

static struct rusage spent(void) {
  struct rusage usage;
  getrusage(RUSAGE_THREAD, &usage);
  return usage;
}

__attribute__((noinline)) static void *work(void *argument) {
  struct work *work = argument;
  struct rusage before = spent();
  char *pages = mmap(NULL, (size_t)(work->faults + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, (size_t)(work->faults + 1) * PAGE, MADV_NOHUGEPAGE);
  for (int i = 0; i < work->faults; i++) {
    pages[i * PAGE] = 1;
  }
  munmap(pages, (size_t)(work->faults + 1) * PAGE);
  for (int i = 0; i < work->switches; i++) {
    nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
  }
  struct rusage after = spent();
  work->done = (struct rusage){.ru_minflt = after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt,
                               .ru_nvcsw = after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw};
  return NULL;
}

static void threaded(struct work *todo) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, todo);
  pthread_join(thread, NULL);
}

static void forked(struct work *todo) {
  int answer[2];
  pipe(answer);
  if (fork() == 0) {
    work(todo);
    write(answer[1], todo, sizeof *todo);
    _exit(0);
  }
  read(answer[0], todo, sizeof *todo);
  wait(NULL);
  close(answer[0]);
  close(answer[1]);
}

static int allowed(void) {
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof attributes, .config = PERF_COUNT_SW_PAGE_FAULTS};
  long descriptor = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0L);
  close((int)descriptor);
  return descriptor >= 0;
}

int main(void) {
  char where[16];
  struct work todo;
  printf("ready %ld\n", syscall(SYS_gettid));
  fflush(stdout);
  while (scanf("%15s %d %d", where, &todo.faults, &todo.switches) == 3) {
    if (strcmp(where, "allowed") == 0) {
      todo.done.ru_minflt = allowed();
    } else if (strcmp(where, "threaded") == 0) {
      threaded(&todo);
    } else if (strcmp(where, "forked") == 0) {
      forked(&todo);
    } else {
      work(&todo);
    }
    printf("%ld %ld\n", todo.done.ru_minflt, todo.done.ru_nvcsw);
    fflush(stdout);
  }
  return 0;
}
