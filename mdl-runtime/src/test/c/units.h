#include <map>
#include <string>
#include <thread>
#include <vector>

template <typename T> __attribute__((noinline)) T bump(T value)
{
  return value + 1;
}

struct Pile {
  std::map<std::string, std::vector<int>> layers;

  __attribute__((noinline)) int add(const std::string &text)
  {
    layers[text].push_back(3);
    return (int)layers[text].size();
  }
};

__attribute__((noinline)) int other(const std::string &text);
