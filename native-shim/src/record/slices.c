#include "record/slices.h"

#include "os/sys.h"
#include "record/apart_calls.h"
#include "record/lease.h"
#include "record/program_cpu.h"
#include "record/rate_spread.h"
#include "record/tier.h"
#include "session/blocks.h"
#include "session/memory.h"

#include <x86intrin.h>

/* Application threads close an overdue slice (lease.c) after LATE times its length. */
enum { LATE = 8 };
/* Calls of a function that a slice times, at most, as far as is known when it begins; and the highest mean. */
enum { TIMED_MAX = 64, MEAN_MAX = 1 << 20 };

static struct {
  struct mdl_slice_plan *plan;
  uint64_t period_begin[MDL_SLICINGS]; /* of the next slice */
  uint64_t begin[MDL_SLICINGS];        /* of that slice; 0: at once */
  struct mdl_slicing *open;
  int64_t count;
  uint64_t deadline; /* tsc from which on its functions' probes go off by themselves */
  uint64_t cpu; /* of the program when the slice was opened */
  uint64_t rested; /* CPU time of this thread when it last went to sleep */
  uint64_t random;
} slices;

/* xorshift64 (Marsaglia 2003). */
static uint64_t below(uint64_t bound) {
  uint64_t x = slices.random ? slices.random : __rdtsc() | 1;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  slices.random = x;
  return bound ? x % bound : 0;
}

void slices_plan(struct mdl_slice_plan *plan) {
  bool same = plan && plan == slices.plan;
  slices.plan = plan;
  for (int i = 0; plan && i < MDL_SLICINGS; i++) {
    /* The first slice begins at once, because the program may be short; so does a slice whose period has become shorter. */
    if (!same || slices.begin[i] - slices.period_begin[i] > plan->of[i].period_nanos) {
      slices.period_begin[i] = 0;
      slices.begin[i] = 0;
    }
  }
}

static bool is_planned(const struct mdl_slicing *slicing) { return slicing->count && slicing->period_nanos; }

/* Places the slice of the next period. Skips periods in which the agent was busy. */
static void place_next(int i, uint64_t now) {
  const struct mdl_slicing *slicing = &slices.plan->of[i];
  uint64_t end = slices.period_begin[i] + slicing->period_nanos;
  uint64_t period_begin = end + slicing->period_nanos > now ? end : now;
  uint64_t room = slicing->period_nanos > slicing->length_nanos ? slicing->period_nanos - slicing->length_nanos : 0;
  slices.period_begin[i] = period_begin;
  slices.begin[i] = period_begin + below(room);
}

uint64_t slices_next(void) {
  uint64_t next = UINT64_MAX;
  for (int i = 0; slices.plan && i < MDL_SLICINGS; i++) {
    if (is_planned(&slices.plan->of[i]) && slices.begin[i] < next) {
      next = slices.begin[i];
    }
  }
  return next;
}

static uint64_t calls_of(uint32_t function) {
  uint64_t calls = 0;
  for (struct mdl_thread *thread = block_newest(); thread; thread = block_after(thread)) {
    const uint64_t *counters = (const uint64_t *)__atomic_load_n(&thread->calls, __ATOMIC_ACQUIRE);
    calls += counters ? __atomic_load_n(&counters[function], __ATOMIC_RELAXED) : 0;
  }
  return calls;
}

static const uint32_t *list(void) { return (const uint32_t *)slices.open->functions + slices.open->next; }

static uint64_t *begun(void) { return (uint64_t *)slices.plan->begun; }

static void note_begun(void) {
  apart_calls_take(false);
  for (int64_t i = 0; i < slices.count; i++) {
    begun()[list()[i]] = calls_of(list()[i]);
  }
}

/* Excludes the calls since begun() from the estimate: calls while probes are being switched and while a slice settles, calls of slices
 * that time calls, which last longer, and calls of slices closed after their deadline, whose probes may have gone off while CPU time
 * went on. */
static void count_apart(void) {
  apart_calls_take(false);
  uint64_t *apart = (uint64_t *)slices.plan->apart;
  for (int64_t i = 0; i < slices.count; i++) {
    uint64_t calls = calls_of(list()[i]);
    apart[list()[i]] += calls - begun()[list()[i]];
    begun()[list()[i]] = calls;
  }
}

/* The CPU time is read before the functions' calls, at the slice's begin and end: so both cover equal times. */
static void note_rates(uint64_t cpu) {
  apart_calls_take(false);
  struct mdl_rate_spread *spreads = (struct mdl_rate_spread *)slices.plan->spreads;
  for (int64_t i = 0; i < slices.count; i++) {
    uint32_t index = list()[i];
    uint64_t calls = calls_of(index);
    rate_spread_add(&spreads[index], calls - begun()[index], cpu);
    begun()[index] = calls;
  }
}

/* The planned mean, or a higher one where a burst is possible: timing a call takes many times as long as a short function, also in the
 * durations of its callers. The highest rate of a count slice, and the calls while this slice settled, say how many may come. */
static uint32_t mean_of(uint32_t index) {
  const struct mdl_slicing *slicing = slices.open;
  double rate = ((const struct mdl_rate_spread *)slices.plan->spreads)[index].peak;
  if (slicing->settling_nanos) {
    double settled = (double)(calls_of(index) - begun()[index]) / (double)slicing->settling_nanos;
    rate = settled > rate ? settled : rate;
  }
  double least = rate * (double)slicing->length_nanos / TIMED_MAX;
  uint32_t planned = ((const uint32_t *)slices.plan->means)[index];
  return least > planned ? (uint32_t)(least < MEAN_MAX ? least : MEAN_MAX) : planned;
}

/* How many calls a timed one stands for: also those between two slices of its function. */
static uint32_t weight_of(uint32_t mean) {
  const struct mdl_slicing *slicing = slices.open;
  double slices_of_all = (double)slicing->count / (double)slicing->step;
  double weight = mean * slices_of_all * (double)slicing->period_nanos / (double)slicing->length_nanos;
  return weight > TIER_WEIGHT_MAX ? TIER_WEIGHT_MAX : weight > mean + 1 ? (uint32_t)weight : mean + 1;
}

static void time_calls(void) {
  struct mdl_function *functions = (struct mdl_function *)session->functions;
  for (int64_t i = 0; i < slices.count; i++) {
    uint32_t index = list()[i], mean = mean_of(index);
    __atomic_store_n(&functions[index].weight, weight_of(mean), __ATOMIC_RELAXED);
    __atomic_store_n(&functions[index].mean, mean, __ATOMIC_RELEASE);
    __atomic_store_n(&functions[index].remaining, 1, __ATOMIC_RELAXED);
  }
}

static void stop_timing(void) {
  struct mdl_function *functions = (struct mdl_function *)session->functions;
  for (int64_t i = 0; i < slices.count; i++) {
    __atomic_store_n(&functions[list()[i]].mean, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&functions[list()[i]].remaining, 0, __ATOMIC_RELAXED);
  }
}

static uint64_t agent_nanos(void) { return clock_nanos(CLOCK_THREAD_CPUTIME_ID); }

/* Since the last step of this slice, the thread has done nothing but sleep. */
static uint64_t woken(struct mdl_slicing *slicing) {
  uint64_t now = agent_nanos();
  slicing->waking_nanos += now - slices.rested;
  return now;
}

static void rest(struct mdl_slicing *slicing, uint64_t begin) {
  slices.rested = agent_nanos();
  slicing->agent_nanos += slices.rested - begin;
}

bool slices_open(uint64_t now, uint64_t *settling) {
  for (int i = 0; slices.plan && i < MDL_SLICINGS; i++) {
    struct mdl_slicing *slicing = &slices.plan->of[i];
    if (!is_planned(slicing) || slices.begin[i] > now) {
      continue;
    }
    uint64_t begin = agent_nanos();
    place_next(i, now);
    slices.open = slicing;
    /* A new plan may have other steps: the CPU time of a slice is that of one step's functions. */
    slicing->next = slicing->next < slicing->count ? slicing->next - slicing->next % slicing->step : 0;
    uint64_t left = slicing->count - slicing->next;
    slices.count = (int64_t)(slicing->step < left ? slicing->step : left);
    note_begun();
    uint64_t open_nanos = slicing->settling_nanos + slicing->length_nanos;
    uint64_t longest = (uint64_t)((double)(LATE * open_nanos) * slices.plan->ticks_per_nano);
    slices.deadline = __rdtsc() + longest;
    record_open_slice(list(), slices.count, longest, slicing->timed);
    rest(slicing, begin);
    *settling = slicing->settling_nanos;
    return true;
  }
  return false;
}

uint64_t slices_begin(void) {
  struct mdl_slicing *slicing = slices.open;
  uint64_t begin = woken(slicing);
  slices.cpu = (uint64_t)record_program_cpu_nanos();
  if (slicing->timed) {
    time_calls();
  } else {
    count_apart();
  }
  rest(slicing, begin);
  return slicing->length_nanos;
}

void slices_close(void) {
  struct mdl_slicing *slicing = slices.open;
  uint64_t begin = woken(slicing);
  uint64_t step = slicing->next / slicing->step;
  step = step < MDL_SLICE_STEPS ? step : MDL_SLICE_STEPS - 1;
  bool late = __rdtsc() >= slices.deadline;
  uint64_t cpu = (uint64_t)record_program_cpu_nanos() - slices.cpu;
  if (!slicing->timed && !late) {
    note_rates(cpu);
  }
  record_disarm(list(), slices.count);
  if (slicing->timed) {
    stop_timing();
  }
  count_apart();
  if (!late) {
    slicing->cpu_nanos[step] += cpu;
    slicing->slices[step]++;
  }
  slicing->next += (uint64_t)slices.count;
  rest(slicing, begin);
  slices.open = NULL;
}
