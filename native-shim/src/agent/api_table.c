#include "agent/api_table.h"

#include "agent/call_paths.h"
#include "agent/control.h"
#include "agent/events.h"
#include "agent/leave.h"
#include "agent/pc_samples.h"
#include "agent/perf_map.h"
#include "agent/ready.h"
#include "agent/sleep.h"
#include "agent/waits.h"
#include "code/code.h"
#include "code/decode.h"
#include "code/demangle.h"
#include "code/imports.h"
#include "code/libraries.h"
#include "code/toggle.h"
#include "code/unwind.h"
#include "os/library.h"
#include "os/self.h"
#include "process/dispositions.h"
#include "record/block_counts.h"
#include "record/calls.h"
#include "record/client.h"
#include "record/files.h"
#include "record/program_cpu.h"
#include "record/record.h"
#include "record/slices.h"
#include "record/lease.h"
#include "session/image_cache.h"
#include "session/log.h"
#include "session/options.h"
#include "session/session.h"

#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

static uint64_t tsc(void) { return __rdtsc(); }

static int64_t cpuid(uint64_t leaf, uint64_t subleaf, uint32_t out[4]) {
  uint32_t base = (uint32_t)leaf & 0xf0000000u; /* base of the leaf's range: standard, hypervisor, extended */
  uint32_t highest, unused;
  __cpuid(base, highest, unused, unused, unused);
  if ((uint32_t)leaf > highest || highest < base) {
    return -ENOENT;
  }
  __cpuid_count((uint32_t)leaf, (uint32_t)subleaf, out[0], out[1], out[2], out[3]);
  return 0;
}

static void store(uint64_t alias, uint64_t value, int64_t size) { code_store(alias, value, size); }

static int64_t begin_files(void) { return files_begin(); }

static uint64_t address(const void *pointer) { return (uintptr_t)pointer; }

const struct mdl_api *api_table(void) {
  static struct mdl_api table;
  calls_start();
  table = (struct mdl_api){
      .size = sizeof table,
      .session = address(session),
      .tls_offset = (char *)&mdl_self - (char *)__builtin_thread_pointer(),
      .options = address(options.text),
      .log_path = address(log_path),
      .library = address(library_directory),
      .ready = address((void *)agent_ready),
      .tsc = address((void *)tsc),
      .renew_clocks = address((void *)session_renew_clocks),
      .images = address((void *)libraries_list),
      .code_copy = address((void *)libraries_copy),
      .code_map = address((void *)code_map),
      .store = address((void *)store),
      .sync_cores = address((void *)code_sync_cores),
      .toggle = address((void *)code_toggle),
      .arm = address((void *)record_arm),
      .allocate = address((void *)session_allocate),
      .decode = address((void *)decode_lengths),
      .demangle = address((void *)demangle),
      .entry_slow = address((void *)record_entry_slow),
      .exit_slow = address((void *)record_exit_slow),
      .record_slow = address((void *)record_slow),
      .sample_entry_slow = address((void *)record_sample_entry_slow),
      .sample_exit_slow = address((void *)record_sample_exit_slow),
      .expire_entry = address((void *)record_entry_expired),
      .expire_exit = address((void *)record_expire_exit),
      .disarm = address((void *)record_disarm),
      .program_cpu = address((void *)record_program_cpu_nanos),
      .replace = address((void *)code_replace),
      .wait_until = address((void *)code_wait_until),
      .catch_traps = address((void *)signals_catch_traps),
      .instruction = address((void *)decode_one),
      .cpuid = address((void *)cpuid),
      .function_entry_slow = address((void *)calls_entry_slow),
      .function_exit_slow = address((void *)calls_exit_slow),
      .count_slow = address((void *)calls_count_slow),
      .function_sibling_slow = address((void *)calls_sibling_slow),
      .trampolines = address((void *)unwind_trampolines),
      .hook_entry_client = address((void *)calls_hook_entry),
      .hook_exit_client = address((void *)calls_hook_exit),
      .function_entry_client = address((void *)calls_entry_client),
      .function_exit_client = address((void *)calls_exit_client),
      .count_client = address((void *)calls_count_client_entry),
      .attach = address((void *)client_attach),
      .counter = address((void *)client_count),
      .text = code_text_alias(),
      .show = address((void *)libraries_show),
      .counters = address((void *)libraries_counters),
      .hold = address((void *)libraries_hold),
      .release = address((void *)libraries_release),
      .await_opening = address((void *)agent_sleep),
      .followed = address((void *)libraries_followed),
      .forget_clients = address((void *)client_forget),
      .take_request = address((void *)control_take),
      .answer_request = address((void *)control_answer),
      .snippets = address((void *)client_snippets),
      .values = address((void *)calls_values),
      .values_framed = address((void *)calls_values_framed),
      .event_open = address((void *)events_open),
      .event_read = address((void *)events_read),
      .event_close = address((void *)events_close),
      .threads = address((void *)events_threads),
      .find_symbol = address((void *)imports_find),
      .exchange_import = address((void *)imports_exchange),
      .snippet_call = address((void *)calls_snippet_call),
      .snippet_call_framed = address((void *)calls_snippet_call_framed),
      .replace_all = address((void *)code_replace_all),
      .files_note = address((void *)files_note),
      .files_table = files_table(),
      .files_begin = address((void *)begin_files),
      .files_intern = address((void *)files_intern),
      .files_path = address((void *)files_intern_path),
      .files_peer = address((void *)files_intern_peer),
      .files_name = address((void *)files_name),
      .files_capacity = address((void *)files_capacity),
      .files_taken = address((void *)files_taken),
      .files_adopt = address((void *)files_adopt),
      .files_enter = address((void *)files_enter),
      .files_forget = address((void *)files_forget),
      .pc_open = address((void *)pc_samples_open),
      .pc_switch = address((void *)pc_samples_switch),
      .pc_take = address((void *)pc_samples_take),
      .pc_place = address((void *)call_paths_place),
      .pc_frame = address((void *)call_paths_frame),
      .pc_forget = address((void *)call_paths_forget),
      .pc_map = address((void *)perf_map_read),
      .plan_slices = address((void *)slices_plan),
      .hide = address((void *)libraries_hide),
      .instruction_uses = address((void *)decode_uses),
      .blocks_open = address((void *)block_counts_open),
      .leave = address((void *)agent_leave_for_good),
      .pc_wait = address((void *)waits_take),
      .function_entry_cpu = address((void *)calls_entry_cpu),
      .read_cpu = address((void *)record_read_cpu),
      .kept_read = address((void *)image_cache_read),
      .kept_write = address((void *)image_cache_write),
      .pc_choose = address((void *)pc_samples_choose),
  };
  return &table;
}
