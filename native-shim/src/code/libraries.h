/* Libraries that the application opens and closes while the agent runs. */
#ifndef MDL_LIBRARIES_H
#define MDL_LIBRARIES_H

#include <mdl/api.h>
#include <stdbool.h>

/* The agent follows openings from now on, so threads can wait for it. */
void libraries_begin(void);

/* See api.h: counters, images, hold, release, show, hide, followed. */
int64_t libraries_counters(void);
int64_t libraries_list(struct mdl_image *out, int64_t capacity);
int64_t libraries_hold(void);
void libraries_release(void);
int64_t libraries_copy(struct mdl_text *text);
int64_t libraries_show(struct mdl_text *texts, int64_t n);
int64_t libraries_hide(struct mdl_text *texts, int64_t n);
void libraries_followed(uint64_t opened);

/* Wakes the agent and waits until it has looked at all that there is, as for an opening. False: not within `nanos`. */
bool libraries_await_look(uint64_t nanos);

/* How often the application has started to wait for a library's probes, and how many of these openings are handled. */
uint32_t libraries_openings(void);
uint32_t libraries_openings_followed(void);
/* The agent sleeps until the next opening or interrupt. `bell`: the bell's value before the agent looked for work, so that
 * no event in between is missed. */
uint32_t libraries_bell(void);
void libraries_sleep(uint32_t bell, uint64_t nanos);
void libraries_interrupt(void);

/* In a relative, with the gate held, by its descriptor of the code file: replaces texts by the agent's copies of them. */
void libraries_join(int file);

/* In a forked child: no agent follows its openings. */
void libraries_forked(void);

#endif
