/*
 * The shim's mechanisms outside of any target process, for tests and benchmarks in their own JVM: a library
 * that offers struct mdl_api over a session whose files are deleted as soon as they are mapped.
 */
#include "agent/api_table.h"
#include "fixture.h"
#include "os/attributes.h"
#include "session/memory.h"

#include <mdl/api.h>

EXPORT const struct mdl_api *mdl_harness_api(void) {
  if (!session) {
    create_session();
  }
  return api_table();
}
