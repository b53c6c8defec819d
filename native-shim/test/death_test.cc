// googletest forks for a death test, and warns if its process has several threads.
#include <cstdlib>
#include <gtest/gtest.h>

TEST(Death, isSeen) {
  for (int i = 0; i < 20; i++) {
    EXPECT_DEATH(std::abort(), "");
    EXPECT_EXIT(std::exit(3), testing::ExitedWithCode(3), "");
  }
}
