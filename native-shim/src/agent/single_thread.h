/* What the kernel lets a process with one thread do alone. */
#ifndef MDL_SINGLE_THREAD_H
#define MDL_SINGLE_THREAD_H

void single_thread_before_system_call(long number, long first, long second);

#endif
