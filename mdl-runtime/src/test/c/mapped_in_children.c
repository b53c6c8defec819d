/* Prints how many mappings of a file it has, itself and in a child. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int mappings(const char *name) {
  char line[4096];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) {
    count += strstr(line, name) != NULL;
  }
  return count;
}

int main(int count, char **arguments) {
  printf("%d\n", mappings(arguments[1]));
  fflush(stdout);
  if (fork() == 0) {
    printf("%d\n", mappings(arguments[1]));
    return 0;
  }
  int status;
  wait(&status);
  return status;
}
