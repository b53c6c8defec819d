/* Libraries that the application opens and closes while the agent is there. */
#ifndef MDL_LIBRARIES_H
#define MDL_LIBRARIES_H

#include <mdl/api.h>

/* From now on the agent follows what is opened: whoever waits for it does not wait in vain. */
void libraries_begin(void);

/* See api.h: counters, images, hold, release, show, followed. */
int64_t libraries_counters(void);
int64_t libraries_list(struct mdl_image *out, int64_t capacity);
int64_t libraries_hold(void);
void libraries_release(void);
int64_t libraries_copy(struct mdl_text *text);
int64_t libraries_show(struct mdl_text *texts, int64_t n);
void libraries_followed(uint64_t opened);

/* How often the application has begun to wait for the probes of a library, and how many of these times are followed. */
uint32_t libraries_openings(void);
uint32_t libraries_openings_followed(void);
/* The agent sleeps until there is another opening, or somebody interrupts it. `bell`: what the bell was before the agent looked
 * whether there is something to do, so that a sleep does not begin when that comes at this moment. */
uint32_t libraries_bell(void);
void libraries_sleep(uint32_t bell, uint64_t nanos);
void libraries_interrupt(void);

/* In a relative, with the gate held, by the descriptor of the file of code there: the copies that the agent has put in place of texts
 * take that of the same texts here. */
void libraries_join(int file);

/* In a forked child: no agent follows what it opens. */
void libraries_forked(void);

#endif
