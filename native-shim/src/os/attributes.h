/* What stands at declarations: EXPORT, in front of libc's function of that name; THREAD_LOCAL, a word that generated code and
 * signal handlers can read at any time, since it is never allocated. */
#ifndef MDL_ATTRIBUTES_H
#define MDL_ATTRIBUTES_H

#define EXPORT __attribute__((visibility("default")))
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#endif
