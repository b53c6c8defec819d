/* A library whose fork handler delays each child before the agent's handler runs, so that the session learns of the child late. It
 * must be preloaded after the agent, so that it is initialised first. */
#include <pthread.h>
#include <unistd.h>

static void wait_in_child(void) { sleep(1); }

__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, wait_in_child); }
