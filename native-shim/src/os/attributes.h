/* Attributes. EXPORT: interposes libc's function of that name. THREAD_LOCAL: static TLS, which is never allocated lazily,
 * so generated code and signal handlers can read it at any time. */
#ifndef MDL_ATTRIBUTES_H
#define MDL_ATTRIBUTES_H

#define EXPORT __attribute__((visibility("default")))
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#endif
