#include "agent/construct.h"

__attribute__((constructor)) static void construct(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  agent_construct(environment);
}
