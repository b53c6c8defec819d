// googletest forks for a death test, and warns when its process has more threads than one.
#include <cstdlib>
#include <gtest/gtest.h>

TEST(Death, isSeen) {
  for (int i = 0; i < 20; i++) {
    EXPECT_DEATH(std::abort(), "");
    EXPECT_EXIT(std::exit(3), testing::ExitedWithCode(3), "");
  }
}
