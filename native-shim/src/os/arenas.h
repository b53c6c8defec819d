/*
 * The arenas that malloc() makes for the agent's threads: 64 MiB of addresses each, noted as the agent's while the thread lives. Then
 * libc gives them to whichever thread comes next. It gives them to several, when it makes no more.
 */
#ifndef MDL_ARENAS_H
#define MDL_ARENAS_H

/* On an agent thread: before it calls malloc() or free(), and when it ends. */
void arenas_begin_own(void);
void arenas_end_own(void);
/* In a forked child: it has none. */
void arenas_forked(void);
/* Before notes are looked at: they go when the program may have some of these, too. */
void arenas_look(void);

#endif
