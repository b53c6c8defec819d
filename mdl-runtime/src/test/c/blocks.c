/* Code in which each line that says HERE counts itself, with a locked instruction that the compiler neither moves nor
 * shares: in threads, in signal handlers, in a forked child, around longjmp. As many threads as the argument says, or forever
 * if there is none. At its end it prints "LINE COUNT" for each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 512, ROUNDS = 2000, STEPS = 9 };

static unsigned long truth[LINES] __attribute__((aligned(4096)));

#define HERE __asm__ volatile("lock incq %0" : "+m"(truth[__LINE__]) : : "cc")
#define APART __attribute__((noinline, noclone))

/* A table of jumps; each case as often as any other. */
APART long switched(long seed, long steps) {
  long sum = seed;
  for (long i = 0; i < steps; i++) {
    switch ((seed + i) % STEPS) {
      case 0:
        HERE;
        sum += 3;
        break;
      case 1:
        HERE;
        sum ^= i;
        break;
      case 2:
        HERE;
        sum *= 3; /* fall through */
      case 3:
        HERE;
        sum -= i;
        break;
      case 4:
        HERE;
        sum += sum >> 3;
        break;
      case 5:
        HERE;
        sum |= 1;
        break;
      case 6:
        HERE;
        sum = ~sum;
        break;
      default:
        HERE;
        sum += seed;
    }
  }
  return sum;
}

/* Computed jumps without a bound. */
APART long threaded(const unsigned char *code) {
  static void *const labels[] = {&&add, &&twice, &&back, &&end};
  long sum = 1, again = 3;
  goto *labels[*code];
add:
  HERE;
  sum += 7;
  goto *labels[*++code];
twice:
  HERE;
  sum *= 2;
  goto *labels[*++code];
back:
  HERE;
  code -= again-- > 0 ? 2 : 0;
  goto *labels[*++code];
end:
  HERE;
  return sum;
}

/* Flags that are compared once and used twice, and a jump that reads none. */
APART long compared(long a, long b, long count) {
  long sum = 0;
  for (; count > 0; count--, a += 3) {
    if (a < b) {
      HERE;
      sum++;
    } else if (a == b) {
      HERE;
      sum += 2;
    } else {
      HERE;
      sum += 3;
    }
  }
  long rest = sum & 7;
  __asm__ volatile("1: jrcxz 2f\n dec %%rcx\n inc %0\n jmp 1b\n2:" : "+r"(sum), "+c"(rest) : : "cc");
  HERE;
  return sum;
}

static __thread jmp_buf back_to;

APART long deep(long depth) {
  HERE;
  if (depth == 0) {
    HERE;
    longjmp(back_to, 1);
  }
  long result = deep(depth - 1) + 1;
  HERE; /* never */
  return result;
}

APART long jumped(long depth) {
  if (setjmp(back_to) == 0) {
    HERE;
    return deep(depth);
  }
  HERE;
  return depth;
}

static volatile sig_atomic_t handled;

APART void handler(int number) {
  __asm__ volatile("nop"); /* a function's first instruction has the line of its head */
  HERE;
  handled += switched(number, STEPS) != 0;
}

APART long tail(long n, long sum) {
  HERE;
  return n == 0 ? sum : tail(n - 1, sum + n);
}

static long (*volatile const by_pointer)(long, long) = tail;

__attribute__((cold, noinline)) long rare(long n) {
  __asm__ volatile("nop");
  HERE;
  return n * 5;
}

static void *work(void *number) {
  static const unsigned char code[] = {0, 1, 0, 2, 1, 3};
  long sum = (long)number;
  for (int i = 0; i < ROUNDS; i++) {
    sum += switched(i, STEPS * 10) + threaded(code) + compared(i % 40, 50, 20) + jumped(i % 5) + by_pointer(i % 4, 1);
    if (i % 100 == 0) {
      HERE;
      raise(SIGUSR1);
      sum += rare(i);
    }
  }
  return (void *)sum;
}

int main(int count, char **arguments) {
  mmap(truth, sizeof truth, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  signal(SIGUSR1, handler);
  if (count < 2) {
    puts("working");
    fflush(stdout);
    pthread_t other;
    for (char got; read(0, &got, 1) > 0;) {
      pthread_create(&other, NULL, work, NULL);
      work(NULL);
      pthread_join(other, NULL);
      puts("round");
      fflush(stdout);
    }
    return 0;
  }
  int threads = atoi(arguments[1]);
  pthread_t thread[64];
  for (long i = 0; i < threads && i < 64; i++) {
    pthread_create(&thread[i], NULL, work, (void *)i);
  }
  pid_t child = fork();
  work(NULL); /* of both */
  if (child == 0) {
    _exit(0);
  }
  waitpid(child, NULL, 0);
  for (int i = 0; i < threads && i < 64; i++) {
    pthread_join(thread[i], NULL);
  }
  for (int i = 0; i < LINES; i++) {
    if (truth[i] != 0) {
      printf("%d %lu\n", i, truth[i]);
    }
  }
  return 0;
}
