/* Creation of the JVM and the call into Java. */
#ifndef MDL_JVM_H
#define MDL_JVM_H

#include <mdl/api.h>

/* Runs Java. Returns the reason why the JVM did not start, or why Java returned. */
void jvm_run(const struct mdl_api *api);

#endif
