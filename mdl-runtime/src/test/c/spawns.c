/* Executes its arguments by posix_spawnp, and waits for them. */
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv) {
  pid_t child;
  int status;
  if (argc < 2 || posix_spawnp(&child, argv[1], 0, 0, argv + 1, environ) != 0) return 2;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
