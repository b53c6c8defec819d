/*
 * The shim's mechanisms outside of any target process, for tests and benchmarks in their own JVM: a library
 * that offers struct mdl_api over a session whose files are deleted as soon as they are mapped.
 */
#include "agent/api_table.h"
#include "agent/native_call.h"
#include "fixture.h"
#include "os/attributes.h"
#include "session/memory.h"

#include <mdl/api.h>

/* In a target process the shim registers it. */
EXPORT jlong Java_org_mdlagent_arch_shim_NativeApi_call(JNIEnv *env, jclass api, jlong function, jlong first, jlong second,
                                                        jlong third) {
  return native_call(env, api, function, first, second, third);
}

EXPORT jlong Java_org_mdlagent_arch_shim_NativeApi_harness(JNIEnv *env, jclass api) {
  (void)env;
  (void)api;
  if (!session) {
    create_session();
  }
  return (jlong)(uintptr_t)api_table();
}
