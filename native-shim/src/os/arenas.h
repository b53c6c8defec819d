/*
 * malloc() arenas of the agent's threads: 64 MiB of address space each, noted as the agent's memory while the thread lives.
 * Afterwards libc reuses an arena for the next thread; at its arena limit it shares one among threads.
 */
#ifndef MDL_ARENAS_H
#define MDL_ARENAS_H

/* On an agent thread: before it calls malloc() or free(), and when it ends. */
void arenas_begin_own(void);
void arenas_end_own(void);
/* In a forked child, which has no arenas of the agent. */
void arenas_forked(void);
/* Call before notes are read: drops the notes of arenas that the program may share. */
void arenas_look(void);

#endif
