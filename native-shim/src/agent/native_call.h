/*
 * The native method by which Java calls the functions of struct mdl_api: NativeApi.call.
 */
#ifndef MDL_NATIVE_CALL_H
#define MDL_NATIVE_CALL_H

#include <jni.h>

/* Functions with fewer parameters ignore the others. What they return beyond their type is undefined. */
jlong native_call(JNIEnv *env, jclass api, jlong function, jlong first, jlong second, jlong third);

#endif
