// Ordinary C++ of two units: containers, and a thread.
#include "units.h"

struct Tower {
  std::map<std::string, std::vector<int>> floors;

  __attribute__((noinline)) int add(const std::string &text)
  {
    floors[text].push_back(bump(1));
    return (int)floors[text].size();
  }
};

int main()
{
  int sum = 0;
  std::thread worker([&sum] {
    Tower tower;
    for (int i = 0; i < 5; i++) sum += tower.add("tower");
  });
  worker.join();
  for (int i = 0; i < 7; i++) sum += other("other");
  return sum == 29 ? 0 : 1;
}
