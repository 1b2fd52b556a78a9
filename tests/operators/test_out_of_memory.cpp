// These tests run operators when there is no memory left, and check that they throw.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <new>

#include "operators/form/robin_faces.hpp"
#include "operators/strategy.hpp"
#include "tests/operators/problems.hpp"

namespace tessera::testing {
namespace {

constexpr int kEnoughMemory = 0;
constexpr int kBadAlloc = 3;

// Takes what malloc still has, and lets the system give no more. What it takes is linked, so that
// no compiler leaves the requests out.
void use_up_memory() {
  const rlimit none{0, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
  struct Block {
    Block* previous;
  };
  Block* last = nullptr;
  constexpr std::size_t kLargest = std::size_t{1} << 30;
  constexpr std::size_t kSmall = 2048;
  for (std::size_t bytes = kLargest; bytes >= sizeof(Block);
       bytes = bytes > kSmall ? bytes / 2 : bytes - sizeof(Block)) {
    while (void* const block = std::malloc(bytes)) last = ::new (block) Block{last};
  }
  Block* volatile kept = last;
  (void)kept;
}

// Ends the process by how the work ended without memory. It is done once before with memory, so
// that threads and their stacks are there.
[[noreturn]] void end_without_memory(const std::function<void()>& work) {
  work();
  use_up_memory();
  try {
    work();
  } catch (const std::bad_alloc&) {
    _exit(kBadAlloc);
  }
  _exit(kEnoughMemory);
}

// An exception that leaves an OpenMP region ends the program with SIGABRT.
class OutOfMemoryDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the address sanitizer ends a program that is out of memory";
#endif
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer has memory of its own";
#endif
    // Threads of OpenMP do not survive a plain fork.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    // Before there are threads: each would else reserve a heap of its own.
    mallopt(M_ARENA_MAX, 1);
  }

  // A high degree needs more for a brick of cells than what threads keep for themselves.
  static Problem problem() {
    ProblemOptions options;
    options.degree = 9;
    options.cells = {6, 4, 3};
    return make_problem(options);
  }
};

TEST_F(OutOfMemoryDeathTest, AnApplicationThrows) {
  for (const char* scatter : {"serial", "atomic", "coloring", "private"}) {
    SCOPED_TRACE(scatter);
    EXPECT_EXIT(
        {
          const ThreadsInUse threads(2);
          const Problem tested = problem();
          const auto a = make_operator<double>({"tensor", scatter}, tested.form);
          const HostVector<double> x(a->size());
          HostVector<double> y(a->size());
          end_without_memory([&] { a->apply(x, y); });
        },
        ::testing::ExitedWithCode(kBadAlloc), "");
  }
}

TEST_F(OutOfMemoryDeathTest, ADiagonalThrows) {
  for (const char* scatter : {"atomic", "coloring", "private"}) {
    SCOPED_TRACE(scatter);
    EXPECT_EXIT(
        {
          const ThreadsInUse threads(2);
          const Problem tested = problem();
          const auto a = make_operator<double>({"tensor", scatter}, tested.form);
          HostVector<double> d(a->size());
          end_without_memory([&] { a->diagonal(d); });
        },
        ::testing::ExitedWithCode(kBadAlloc), "");
  }
}

// What a face needs of memory is taken before the threads begin.
TEST_F(OutOfMemoryDeathTest, RobinFacesThrow) {
  EXPECT_EXIT(
      {
        const ThreadsInUse threads(2);
        const Problem tested = problem();
        const RobinFaces<double> faces(tested.form);
        const HostVector<double> x(tested.size());
        HostVector<double> y(tested.size());
        end_without_memory([&] { faces.add(x, FaceRows::unconstrained, y); });
      },
      ::testing::ExitedWithCode(kBadAlloc), "");
}

}  // namespace
}  // namespace tessera::testing
