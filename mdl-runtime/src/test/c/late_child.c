/* A library whose handler holds up each forked process before the agent's, so that the session knows of it late. It has to be preloaded
 * behind the agent: then it is initialised first. */
#include <pthread.h>
#include <unistd.h>

static void wait_in_child(void) { sleep(1); }

__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, wait_in_child); }
