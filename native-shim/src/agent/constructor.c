#include "agent/construct.h"

#include "os/glibc.h"

__attribute__((constructor)) static void construct(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  if (glibc_is_here()) {
    agent_construct(environment);
  }
}
