#include "agent/stack_path.h"

#include "agent/call_paths.h"

enum { FRAMES = 512 };

int64_t stack_path(const struct stack_sample *stack, pid_t pid, struct mdl_pc_place *unknown, int64_t capacity,
                   struct stack_path *path) {
  static struct stack_frame frames[FRAMES];
  static uint32_t numbers[FRAMES * FRAMES_OF_ADDRESS + 1];
  *path = (struct stack_path){.frames = numbers};
  size_t count = unwinder_walk(stack, frames, FRAMES, &path->end);
  int64_t unknowns = 0;
  for (size_t i = 0; i < count; i++) {
    if (frames[i].ours) {
      numbers[path->length++] = FRAME_PROBES;
      continue;
    }
    size_t found = call_paths_frames_at(frames[i].address, numbers + path->length);
    path->length += found;
    if (found == 0 && unknowns < capacity) {
      unknown[unknowns++] = (struct mdl_pc_place){
          .address = frames[i].address, .start = frames[i].start, .bias = frames[i].bias, .pid = pid};
    }
  }
  if (path->end != STACK_WHOLE) {
    numbers[path->length++] = FRAME_CUT;
  }
  path->address = count > 0 ? frames[0].address - frames[0].bias : 0;
  return unknowns;
}
