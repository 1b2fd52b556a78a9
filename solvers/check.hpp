// These checks end the program when the program itself is wrong.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace tessera {

/// Prints the condition that does not hold and where it was checked, then ends the program with
/// SIGABRT.
[[noreturn, gnu::cold, gnu::noinline]] inline void check_failed(const char* condition,
                                                                const char* file, int line) {
  std::fprintf(stderr, "tessera: internal error, please report it: not %s, at %s:%d\n", condition,
               file, line);
  std::abort();
}

/// Aborts in every build unless the condition holds. It is for errors of the program, not of its
/// users, and for conditions that cost nothing beside the work that they guard: the sizes of
/// vectors, once per operation. A condition on each index is an `assert`, which the Release build
/// leaves out.
#define TESSERA_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::tessera::check_failed(#condition, __FILE__, __LINE__))

/// Guards the scratch memory of an object that may work on one thing at a time: making a `Use` of
/// it aborts the program while another one lives. Copies of the object are not in use.
class OneUseAtATime {
 public:
  OneUseAtATime() = default;
  OneUseAtATime(const OneUseAtATime&) noexcept {}
  OneUseAtATime& operator=(const OneUseAtATime&) noexcept { return *this; }

  class [[nodiscard]] Use {
   public:
    explicit Use(OneUseAtATime& guarded) : is_used_(guarded.is_used_) {
      const bool is_used_already = is_used_.test_and_set(std::memory_order_acquire);
      TESSERA_CHECK(!is_used_already);
    }
    ~Use() { is_used_.clear(std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    std::atomic_flag& is_used_;
  };

 private:
  std::atomic_flag is_used_;
};

}  // namespace tessera
