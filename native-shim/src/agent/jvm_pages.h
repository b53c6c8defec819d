/*
 * Pages of the JVM's files that only its start needed. They are clean, so the kernel reads those that are needed again from
 * its cache.
 */
#ifndef MDL_JVM_PAGES_H
#define MDL_JVM_PAGES_H

#include <stdint.h>

/* On the agent's thread, while it is idle. Does its work once, some time after the first call. */
void jvm_pages_release(uint64_t now);

#endif
