#include "agent/native_call.h"

#include <stdint.h>

jlong native_call(JNIEnv *env, jclass api, jlong function, jlong first, jlong second, jlong third) {
  (void)env;
  (void)api;
  return ((jlong(*)(jlong, jlong, jlong))(uintptr_t)function)(first, second, third);
}
