/* Clients at probes whose code is an array of bytes, and whose stubs are words with a displacement. */
#include "code/code.h"
#include "code/death.h"
#include "code/toggle.h"
#include "fixture.h"
#include "record/calls.h"
#include "record/client.h"
#include "record/frames.h"
#include "record/mode.h"
#include "record/thread.h"
#include "record/lease.h"
#include "session/memory.h"
#include "session/waiters.h"

#include <errno.h>
#include <fastinst.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <x86intrin.h>

enum { RECORD = 0x1000, CLIENT = 0x2000, COUNT = 0x3000, STUB_WORDS = 16 };

static int32_t *stubs;
static struct { unsigned calls; fastinst_probe probe; void *function; } first, second;

static void run_first(fastinst_probe probe, void *function) {
  first.calls++;
  first.probe = probe;
  first.function = function;
  errno = 7;
}

static void run_second(fastinst_probe probe, void *function) {
  second.calls++;
  second.probe = probe;
  second.function = function;
}

static void client_fixture(void) {
  fixture(true);
  session->state = MDL_ARMED;
  stubs = (int32_t *)session_allocate(2 * FUNCTIONS * STUB_WORDS * sizeof *stubs);
  for (uint32_t i = 0; i < 2 * FUNCTIONS; i++) {
    struct mdl_bodies *bodies = (struct mdl_bodies *)session_allocate(sizeof *bodies);
    sites[i].stub = (uintptr_t)(stubs + i * STUB_WORDS);
    sites[i].bodies = (uint32_t)((uintptr_t)bodies - (uintptr_t)session);
    *bodies = (struct mdl_bodies){.alias = 4, .displacement = 8,
                                  .record = sites[i].stub + RECORD,
                                  .client = sites[i].stub + CLIENT,
                                  .count = sites[i].stub + COUNT};
  }
}

static void make_whole(int function) {
  entry_of(function)->kind = MDL_WHOLE;
  exit_of(function)->kind = MDL_RETURN;
  exit_of(function)->store = entry_of(function)->store;
  exit_of(function)->on = entry_of(function)->on;
}

/* The target of the site's stub, from its head. The alias is 4 bytes after it, the displacement at 8. */
static int64_t target_of(const struct mdl_site *site) {
  return *(const int32_t *)(site->stub + 4 + 8) + 8 + (int64_t)sizeof(int32_t);
}

static bool is_on(const struct mdl_site *site) { return *(const uint8_t *)site->store == (uint8_t)site->on; }

static uint32_t entry(int function) { return entry_of(function)->index; }
static uint32_t leave(int function) { return exit_of(function)->index; }

static void shouldGoFromBodyToBody(void) {
  client_fixture();
  CHECK(!is_on(entry_of(2)));
  CHECK_EQUAL(fastinst_activate(entry(2), run_first), FASTINST_OK);
  CHECK(is_on(entry_of(2)));
  CHECK_EQUAL(target_of(entry_of(2)), CLIENT);
  CHECK_EQUAL(fastinst_activate(entry(2), FASTINST_COUNT), FASTINST_OK);
  CHECK_EQUAL(target_of(entry_of(2)), COUNT);
  CHECK_EQUAL(fastinst_deactivate(entry(2)), FASTINST_OK);
  CHECK_EQUAL(target_of(entry_of(2)), RECORD);
  CHECK(!is_on(entry_of(2)));
  CHECK(!is_on(exit_of(2)));
}

static __attribute__((noinline)) void come_to_probe(const struct mdl_site *site, uint64_t function) {
  client_call(site, function, (uintptr_t)__builtin_frame_address(0));
}

static void shouldStoreDataAloneFromFunctionToFunction(void) {
  client_fixture();
  fastinst_activate(entry(2), run_first);
  *(uint8_t *)entry_of(2)->store = 0x55;
  *(int32_t *)(entry_of(2)->stub + 4 + 8) = 0x55555555;
  /* Step 3 finds the byte wrong and corrects it; nothing has stored to the stub. */
  CHECK_EQUAL(fastinst_activate(entry(2), run_second), FASTINST_OK);
  CHECK_EQUAL(*(int32_t *)(entry_of(2)->stub + 4 + 8), 0x55555555);
  come_to_probe(entry_of(2), address_of(2));
  CHECK_EQUAL(first.calls, 0);
  CHECK_EQUAL(second.calls, 1);
}

static void shouldNotLeadToTheRecorderWhereThereIsNone(void) {
  client_fixture();
  session->flags |= MDL_UNPROFILED;
  fastinst_activate(entry(2), run_first);
  fastinst_deactivate(entry(2));
  CHECK_EQUAL(target_of(entry_of(2)), CLIENT);
}

static void shouldCallClientWithProbeAndFunctionAndKeepErrno(void) {
  client_fixture();
  fastinst_activate(leave(3), run_first);
  errno = 42;
  come_to_probe(exit_of(3), 0x1234);
  CHECK_EQUAL(errno, 42);
  CHECK_EQUAL(first.calls, 1);
  CHECK_EQUAL(first.probe, leave(3));
  CHECK_EQUAL((uintptr_t)first.function, 0x1234);
  fastinst_deactivate(leave(3));
  come_to_probe(exit_of(3), 0x1234);
  CHECK_EQUAL(first.calls, 1);
}

static void nest(fastinst_probe probe, void *function) {
  (void)probe, (void)function;
  come_to_probe(entry_of(1), address_of(1));
  come_to_probe(entry_of(0), address_of(0));
}

static void shouldEnterNoClientFromAClient(void) {
  uint64_t skipped;
  client_fixture();
  fastinst_activate(entry(0), nest);
  fastinst_activate(entry(1), run_first);
  for (int i = 0; i < 10; i++) {
    come_to_probe(entry_of(0), address_of(0));
  }
  CHECK_EQUAL(first.calls, 0);
  CHECK_EQUAL(fastinst_skipped(&skipped), FASTINST_OK);
  CHECK_EQUAL(skipped, 20);
  come_to_probe(entry_of(1), address_of(1));
  CHECK_EQUAL(first.calls, 1);
}

static void *come_by_as_agent(void *unused) {
  (void)unused;
  record_mute_thread();
  come_to_probe(entry_of(0), address_of(0));
  return NULL;
}

static void shouldNotRunOnThreadsOfTheAgentOrInForkedProcesses(void) {
  pthread_t thread;
  client_fixture();
  fastinst_activate(entry(0), run_first);
  pthread_create(&thread, NULL, come_by_as_agent, NULL);
  pthread_join(thread, NULL);
  CHECK_EQUAL(first.calls, 0);
  come_to_probe(entry_of(0), address_of(0));
  CHECK_EQUAL(first.calls, 1);
  pid_t child = fork();
  if (child == 0) {
    come_to_probe(entry_of(0), address_of(0));
    _exit(first.calls == 1 && fastinst_deactivate(entry(0)) == FASTINST_UNAVAILABLE ? 0 : 1);
  }
  int status;
  waitpid(child, &status, 0);
  CHECK_EQUAL(status, 0);
  CHECK(is_on(entry_of(0)));
}

static void fork_in_client(fastinst_probe probe, void *function) {
  run_first(probe, function);
  if (fork() == 0) {
    first.calls = 100;
  }
}

static void shouldLeaveAClientThatForks(void) {
  client_fixture();
  fastinst_activate(entry(0), fork_in_client);
  come_to_probe(entry_of(0), address_of(0));
  come_to_probe(entry_of(0), address_of(0));
  if (first.calls >= 100) {
    _exit(first.calls == 100 ? 0 : 1); /* a child, where clients no longer run */
  }
  CHECK_EQUAL(first.calls, 2);
  for (int status, children = 0; children < 2; children++) {
    CHECK(wait(&status) > 0);
    CHECK_EQUAL(status, 0);
  }
}

static void shouldCountWhereGeneratedCodeDoesNot(void) {
  uint64_t calls;
  client_fixture();
  fastinst_activate(leave(4), FASTINST_COUNT);
  for (int i = 0; i < 1000; i++) {
    come_to_probe(exit_of(4), address_of(4));
  }
  CHECK_EQUAL(fastinst_calls(leave(4), &calls), FASTINST_OK);
  CHECK_EQUAL(calls, 1000);
  CHECK_EQUAL(fastinst_calls(entry(4), &calls), FASTINST_OK);
  CHECK_EQUAL(calls, 0);
  CHECK(mdl_self->counts != 0);
}

/* ---- whole functions */

static void shouldKeepWholeFunctionOnForItsReturnAlone(void) {
  client_fixture();
  make_whole(1);
  CHECK_EQUAL(fastinst_activate(leave(1), run_first), FASTINST_OK);
  CHECK(is_on(entry_of(1)));
  CHECK_EQUAL(target_of(entry_of(1)), CLIENT); /* it opens the frame */
  CHECK_EQUAL(target_of(exit_of(1)), CLIENT);
  CHECK_EQUAL(fastinst_activate(entry(1), FASTINST_COUNT), FASTINST_OK);
  CHECK_EQUAL(target_of(entry_of(1)), CLIENT);
  CHECK_EQUAL(fastinst_deactivate(leave(1)), FASTINST_OK);
  CHECK(is_on(entry_of(1)));
  CHECK_EQUAL(target_of(entry_of(1)), COUNT);
  CHECK_EQUAL(target_of(exit_of(1)), RECORD);
  CHECK_EQUAL(fastinst_deactivate(entry(1)), FASTINST_OK);
  CHECK(!is_on(entry_of(1)));
}

uint64_t calls_enter_client(struct mdl_site *site, struct mdl_call *call);
void calls_count_client(struct mdl_site *site, const uint64_t *stack);
void calls_leave_client(const struct mdl_call *call, const struct mdl_site *site, uint64_t ticks);

static uint64_t ticks_now(void) { return __builtin_ia32_rdtsc(); }

static void leave_client(int function, const struct mdl_call *call) {
  calls_leave_client(call, entry_of(function), ticks_now());
}

static uint64_t calls(int function) { return ((uint64_t *)mdl_self->calls)[function]; }

static uint64_t recorded(int function) {
  const struct mdl_row *row = ((struct mdl_row **)mdl_self->rows)[function];
  return row ? row->count : 0;
}

static void shouldSeeReturnsThatTheRecorderDoesNotWant(void) {
  struct mdl_call call[2] = {{0}}; /* after the first, at its return */
  client_fixture();
  make_whole(1);
  fastinst_activate(leave(1), run_first);
  CHECK_EQUAL(calls_enter_client(entry_of(1), call), CALLS_SEEN);
  CHECK_EQUAL(call->inside, MDL_CALL_UNTIMED);
  leave_client(1, call);
  CHECK_EQUAL(first.calls, 1);
  CHECK_EQUAL(first.probe, leave(1));
  CHECK_EQUAL((uintptr_t)first.function, address_of(1));
  CHECK_EQUAL(calls(1) + recorded(1), 0);

  code_record(entry_of(1), true);
  CHECK_EQUAL(calls_enter_client(entry_of(1), call), CALLS_SEEN);
  CHECK_EQUAL(call->inside, 0);
  leave_client(1, call);
  CHECK_EQUAL(first.calls, 2);
  CHECK_EQUAL(calls(1), 1);
  CHECK_EQUAL(recorded(1), 1);

  code_record(entry_of(1), false);
  fastinst_deactivate(leave(1));
  fastinst_activate(entry(1), run_second);
  CHECK_EQUAL(calls_enter_client(entry_of(1), call), CALLS_UNSEEN);
  CHECK_EQUAL(second.calls, 1);
  CHECK_EQUAL(calls(1), 1);
}

static void shouldLeaveSelfTimeToTheCallerOfAnUntimedCall(void) {
  struct mdl_call outer[2] = {{0}}, untimed[2] = {{0}}, inner[2] = {{0}};
  client_fixture();
  for (int i = 0; i < 3; i++) {
    make_whole(i);
  }
  fastinst_activate(leave(1), run_first);
  code_record(entry_of(0), true);
  code_record(entry_of(2), true);
  calls_enter_client(entry_of(0), outer);
  calls_enter_client(entry_of(1), untimed);
  calls_enter_client(entry_of(2), inner);
  /* The cost of reading the clock is subtracted: an empty call may take no time. */
  for (uint64_t begin = ticks_now(); ticks_now() - begin < 10000;) {
  }
  leave_client(2, inner);
  leave_client(1, untimed);
  leave_client(0, outer);
  const struct mdl_row *const *rows = (const struct mdl_row *const *)mdl_self->rows;
  CHECK(rows[2]->total >= 10000 - session->clock_ticks);
  CHECK_EQUAL(rows[0]->self, rows[0]->total - rows[2]->total);
}

static void shouldCountCallsOfASiteThatCountsOnlyWhenRecorded(void) {
  const uint64_t stack[1] = {0};
  client_fixture();
  entry_of(1)->kind = MDL_COUNT;
  fastinst_activate(entry(1), run_first);
  calls_count_client(entry_of(1), stack);
  CHECK_EQUAL(calls(1), 0);
  code_record(entry_of(1), true);
  calls_count_client(entry_of(1), stack);
  CHECK_EQUAL(calls(1), 1);
  CHECK_EQUAL(first.calls, 2);
}

/* ---- errors */

static void shouldChangeNothingWhenOneProbeIsNone(void) {
  client_fixture();
  sites[5].bodies = 0; /* the filters exclude it */
  fastinst_probe probes[3] = {1, 2 * FUNCTIONS, 3};
  CHECK_EQUAL(fastinst_activate_all(probes, 3, run_first), FASTINST_NO_PROBE);
  probes[1] = 5;
  CHECK_EQUAL(fastinst_activate_all(probes, 3, run_first), FASTINST_NO_PROBE);
  CHECK_EQUAL(fastinst_deactivate(5), FASTINST_NO_PROBE);
  CHECK_EQUAL(fastinst_activate(1, NULL), FASTINST_NO_FUNCTION);
  CHECK(!is_on(&sites[1]) && !is_on(&sites[3]));
  CHECK_EQUAL(fastinst_activate_all(NULL, 0, run_first), FASTINST_OK);
  probes[1] = 2;
  CHECK_EQUAL(fastinst_activate_all(probes, 3, run_first), FASTINST_OK);
  CHECK(is_on(&sites[1]) && is_on(&sites[2]) && is_on(&sites[3]));
}

static int remembered;

static void remember(const struct fastinst_metadata *metadata, void *argument) {
  remembered += metadata->probe == 5 ? 100 : 1;
  CHECK(argument == &remembered);
}

static void shouldDiscoverWhatIsNewAndOpenToClients(void) {
  client_fixture();
  sites[5].bodies = 0;
  CHECK_EQUAL(fastinst_discover(0, remember, &remembered), 2 * FUNCTIONS);
  CHECK_EQUAL(remembered, 2 * FUNCTIONS - 1);
  CHECK_EQUAL(fastinst_discover(2 * FUNCTIONS - 3, remember, &remembered), 2 * FUNCTIONS);
  CHECK_EQUAL(remembered, 2 * FUNCTIONS + 2);
  CHECK_EQUAL(fastinst_discover(2 * FUNCTIONS, remember, &remembered), 2 * FUNCTIONS);
  CHECK_EQUAL(remembered, 2 * FUNCTIONS + 2);
}

static void shouldBeUnavailableWithoutAgent(void) {
  client_fixture();
  fastinst_activate(entry(0), run_first);
  agent_died("the test wants it so", NULL);
  CHECK(!is_on(entry_of(0)));
  CHECK_EQUAL(fastinst_activate(entry(0), run_first), FASTINST_UNAVAILABLE);
  CHECK_EQUAL(fastinst_wait(0, 0), FASTINST_UNAVAILABLE);
  CHECK_EQUAL(fastinst_synchronize(0), FASTINST_UNAVAILABLE);
}

static void shouldHaveOneMessageForEachStatus(void) {
  for (int status = FASTINST_OK; status <= FASTINST_BUSY; status++) {
    for (int other = status + 1; other <= FASTINST_BUSY + 1; other++) {
      CHECK(strcmp(fastinst_message(status), fastinst_message(other)) != 0);
    }
  }
}

/* ---- waiting */

static void *find_more(void *unused) {
  (void)unused;
  usleep(20000);
  __atomic_store_n(&session->site_count, 2 * FUNCTIONS, __ATOMIC_RELEASE);
  waiters_look_again();
  return NULL;
}

static void shouldWaitForMoreProbes(void) {
  pthread_t thread;
  client_fixture();
  session->site_count = 4;
  CHECK_EQUAL(fastinst_wait(3, 0), FASTINST_OK);
  CHECK_EQUAL(fastinst_wait(4, 5), FASTINST_TIMEOUT);
  pthread_create(&thread, NULL, find_more, NULL);
  CHECK_EQUAL(fastinst_wait(4, 60000), FASTINST_OK);
  pthread_join(thread, NULL);
  session->state = MDL_STARTING;
  CHECK_EQUAL(fastinst_wait(0, 0), FASTINST_TIMEOUT);
}

static _Atomic int may_leave, is_in;

static void stay(fastinst_probe probe, void *function) {
  (void)probe, (void)function;
  atomic_store(&is_in, 1);
  while (!atomic_load(&may_leave)) {
    usleep(100);
  }
}

static void *come_by(void *unused) {
  (void)unused;
  come_to_probe(entry_of(0), address_of(0));
  return NULL;
}

static void *let_leave(void *unused) {
  (void)unused;
  usleep(20000);
  atomic_store(&may_leave, 1);
  return NULL;
}

static void shouldWaitForThreadsThatAreInAClientTakenAway(void) {
  pthread_t inside, other;
  client_fixture();
  CHECK_EQUAL(fastinst_activate(entry(0), stay), FASTINST_OK);
  pthread_create(&inside, NULL, come_by, NULL);
  while (!atomic_load(&is_in)) {
    usleep(100);
  }
  CHECK_EQUAL(fastinst_deactivate(entry(0)), FASTINST_OK);
  CHECK_EQUAL(fastinst_synchronize(5), FASTINST_TIMEOUT);
  pthread_create(&other, NULL, let_leave, NULL);
  CHECK_EQUAL(fastinst_synchronize(60000), FASTINST_OK);
  CHECK(atomic_load(&may_leave));
  pthread_join(inside, NULL);
  pthread_join(other, NULL);
  CHECK_EQUAL(fastinst_synchronize(0), FASTINST_OK);
}

/* ---- users of a site */

enum { ROUNDS = 100000 };

static _Atomic int arrived;

/* Spins: both leave at the same time. */
static void meet(int *meetings) {
  int all = 2 * ++*meetings;
  atomic_fetch_add(&arrived, 1);
  while (atomic_load(&arrived) < all) {
    if (__builtin_expect((__rdtsc() & 0xfff) == 0, 0)) {
      sched_yield(); /* the other may have no processor */
    }
  }
}

/* So that they are not always at the same step. */
static unsigned stagger(unsigned *seed) {
  unsigned random = (unsigned)rand_r(seed);
  for (volatile unsigned i = 0; i < (random >> 8) % 32; i++) {
  }
  return random & 1;
}

static void *wish_as_client(void *unused) {
  unsigned seed = 77;
  int meetings = 0;
  (void)unused;
  for (int round = 0; round < ROUNDS; round++) {
    meet(&meetings);
    stagger(&seed) ? fastinst_activate(entry(0), run_first) : fastinst_deactivate(entry(0));
    meet(&meetings);
    meet(&meetings);
  }
  return NULL;
}

/* In whatever order a client and the recorder change their minds, a site is on if either of them wants it. */
static void shouldAgreeWithARecorderThatChangesItsMindAtTheSameTime(void) {
  pthread_t client;
  unsigned seed = 1;
  int meetings = 0, on = 0;
  client_fixture();
  uint32_t list[1] = {entry(0)};
  pthread_create(&client, NULL, wish_as_client, NULL);
  for (int round = 0; round < ROUNDS; round++) {
    meet(&meetings);
    code_toggle(list, 1, stagger(&seed));
    meet(&meetings);
    bool wanted = entry_of(0)->recording || entry_of(0)->client;
    CHECK_EQUAL(is_on(entry_of(0)), wanted);
    on += wanted;
    meet(&meetings);
  }
  pthread_join(client, NULL);
  CHECK(on > 0.7 * ROUNDS && on < 0.8 * ROUNDS); /* each wants it in half of the rounds */
}

enum { MANY = 1 << 20 };
static fastinst_probe many[MANY];
static _Atomic bool begun;
static int outcome;

static void *activate_many(void *unused) {
  (void)unused;
  atomic_store(&begun, true);
  do {
    outcome = fastinst_activate_all(many, MANY, run_first);
  } while (outcome == FASTINST_OK);
  return NULL;
}

/* Each site occurs many times, so some are switched on again behind the dying agent. */
static void shouldStayOffWhenTheAgentDiesMeanwhile(void) {
  pthread_t thread;
  client_fixture();
  for (uint32_t i = 0; i < MANY; i++) {
    many[i] = i % (2 * FUNCTIONS);
  }
  pthread_create(&thread, NULL, activate_many, NULL);
  while (!atomic_load(&begun) || !is_on(&sites[0])) {
  }
  agent_died("the test wants it so", NULL);
  pthread_join(thread, NULL);
  CHECK_EQUAL(outcome, FASTINST_UNAVAILABLE);
  for (uint32_t i = 0; i < 2 * FUNCTIONS; i++) {
    CHECK(!is_on(&sites[i]));
    CHECK_EQUAL(sites[i].client, 0);
  }
}

/* A whole function whose stub may lead to a counter. */
static const uint64_t COUNTER = 0xFFFFFF00001234E9;

static void counter_fixture(int function) {
  client_fixture();
  session->flags = MDL_MIXED;
  make_whole(function);
  ((struct mdl_bodies *)((char *)session + entry_of(function)->bodies))->counter = COUNTER;
  *(uint64_t *)(entry_of(function)->stub + 4) = STUB_HEAD;
}

static uint64_t head_of(int function) { return *(const uint64_t *)(entry_of(function)->stub + 4); }

static void open_slice(uint32_t function, bool timed) { record_open_slice(&function, 1, UINT64_MAX / 2, timed); }

static void shouldLeadToTheCounterInSlicesThatCount(void) {
  uint32_t function = 2;
  counter_fixture(2);
  open_slice(function, false);
  CHECK_EQUAL(head_of(2), COUNTER);
  record_disarm(&function, 1);
  CHECK_EQUAL(head_of(2), COUNTER); /* it will be one again, most likely */
  open_slice(function, true);
  CHECK_EQUAL(head_of(2), STUB_HEAD);
  record_disarm(&function, 1);
  open_slice(function, false);
  record_disarm(&function, 1);
  record_arm(&function, &(uint64_t){1000}, 1);
  CHECK_EQUAL(head_of(2), STUB_HEAD);
}

static void shouldLeadBackFromTheCounterForAClient(void) {
  counter_fixture(2);
  open_slice(2, false);
  CHECK_EQUAL(fastinst_activate(leave(2), run_first), FASTINST_OK);
  CHECK_EQUAL(head_of(2), STUB_HEAD);
  uint32_t function = 2;
  record_disarm(&function, 1);
  open_slice(2, true);
  record_disarm(&function, 1);
  open_slice(2, false);
  CHECK_EQUAL(head_of(2), STUB_HEAD); /* it has one */
}

static void shouldLeadBackFromTheCounterForSnippets(void) {
  counter_fixture(2);
  open_slice(2, false);
  CHECK_EQUAL(client_snippets(entry(2), 0x5000), FASTINST_OK);
  CHECK_EQUAL(head_of(2), STUB_HEAD);
}

static void *attach_and_detach(void *rounds) {
  for (int i = 0; i < *(const int *)rounds; i++) {
    CHECK_EQUAL(fastinst_activate(entry(2), run_first), FASTINST_OK);
    CHECK_EQUAL(head_of(2), STUB_HEAD);
    CHECK_EQUAL(fastinst_deactivate(entry(2)), FASTINST_OK);
  }
  return NULL;
}

/* While slices open and close: a client's call must never be skipped. */
static void shouldNotLeadToTheCounterWhileAClientIsAttached(void) {
  int rounds = 20000;
  uint32_t function = 2;
  pthread_t thread;
  counter_fixture(2);
  CHECK_EQUAL(pthread_create(&thread, NULL, attach_and_detach, &rounds), 0);
  for (int i = 0; i < rounds; i++) {
    open_slice(2, i % 2);
    record_disarm(&function, 1);
  }
  pthread_join(thread, NULL);
}

TESTS({"shouldGoFromBodyToBody", shouldGoFromBodyToBody},
      {"shouldLeadToTheCounterInSlicesThatCount", shouldLeadToTheCounterInSlicesThatCount},
      {"shouldLeadBackFromTheCounterForAClient", shouldLeadBackFromTheCounterForAClient},
      {"shouldLeadBackFromTheCounterForSnippets", shouldLeadBackFromTheCounterForSnippets},
      {"shouldNotLeadToTheCounterWhileAClientIsAttached", shouldNotLeadToTheCounterWhileAClientIsAttached},
      {"shouldStoreDataAloneFromFunctionToFunction", shouldStoreDataAloneFromFunctionToFunction},
      {"shouldNotLeadToTheRecorderWhereThereIsNone", shouldNotLeadToTheRecorderWhereThereIsNone},
      {"shouldCallClientWithProbeAndFunctionAndKeepErrno", shouldCallClientWithProbeAndFunctionAndKeepErrno},
      {"shouldEnterNoClientFromAClient", shouldEnterNoClientFromAClient},
      {"shouldNotRunOnThreadsOfTheAgentOrInForkedProcesses", shouldNotRunOnThreadsOfTheAgentOrInForkedProcesses},
      {"shouldLeaveAClientThatForks", shouldLeaveAClientThatForks},
      {"shouldCountWhereGeneratedCodeDoesNot", shouldCountWhereGeneratedCodeDoesNot},
      {"shouldKeepWholeFunctionOnForItsReturnAlone", shouldKeepWholeFunctionOnForItsReturnAlone},
      {"shouldSeeReturnsThatTheRecorderDoesNotWant", shouldSeeReturnsThatTheRecorderDoesNotWant},
      {"shouldLeaveSelfTimeToTheCallerOfAnUntimedCall", shouldLeaveSelfTimeToTheCallerOfAnUntimedCall},
      {"shouldCountCallsOfASiteThatCountsOnlyWhenRecorded", shouldCountCallsOfASiteThatCountsOnlyWhenRecorded},
      {"shouldChangeNothingWhenOneProbeIsNone", shouldChangeNothingWhenOneProbeIsNone},
      {"shouldDiscoverWhatIsNewAndOpenToClients", shouldDiscoverWhatIsNewAndOpenToClients},
      {"shouldBeUnavailableWithoutAgent", shouldBeUnavailableWithoutAgent},
      {"shouldHaveOneMessageForEachStatus", shouldHaveOneMessageForEachStatus},
      {"shouldWaitForMoreProbes", shouldWaitForMoreProbes},
      {"shouldWaitForThreadsThatAreInAClientTakenAway", shouldWaitForThreadsThatAreInAClientTakenAway},
      {"shouldAgreeWithARecorderThatChangesItsMindAtTheSameTime", shouldAgreeWithARecorderThatChangesItsMindAtTheSameTime},
      {"shouldStayOffWhenTheAgentDiesMeanwhile", shouldStayOffWhenTheAgentDiesMeanwhile})
