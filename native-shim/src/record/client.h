/* Callbacks at probes: the implementation of fastinst.h, and the same for Java. */
#ifndef MDL_CLIENT_H
#define MDL_CLIENT_H

#include <mdl/layout.h>
#include <stdbool.h>

/* Calls the site's client, if it has one and the thread is in no client. key: stack address of the probed call. Preserves
 * errno. */
void client_call(const struct mdl_site *site, uint64_t function, uint64_t key);
/* The client of a probe that only counts. */
void client_count(uint32_t probe, void *function);
/* See api.h, attach. */
int64_t client_attach(const uint32_t *probes, int64_t n, uint64_t function);
/* Switches a function's stubs to plain counting, if they have counters and neither clients nor snippets; or back to full
 * recording. By the agent only. */
void client_lead_to_counters(struct mdl_function *function, bool counting);
/* See api.h. */
int64_t client_snippets(uint32_t probe, uint64_t code);
/* See api.h, forget_clients. */
void client_forget(const uint32_t *probes, int64_t n);

#endif
