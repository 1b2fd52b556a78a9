#include "src/studies/finishing_time/schedule_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tessera {
namespace {

constexpr int kThreadsPerWarp = 16;
constexpr std::size_t kArithmeticWarps = 2;
constexpr std::size_t kMemoryWarps = 1;

enum class Unit { arithmetic, memory };

/// The instructions of a warp, numbered from 0.
class Program {
 public:
  explicit Program(int repetitions) : repetitions_(repetitions) {}

  [[nodiscard]] int size() const { return 3 * repetitions_ + 2; }

  [[nodiscard]] Unit unit(int instruction) const {
    if (instruction == 0) return Unit::arithmetic;
    if (instruction == size() - 1) return Unit::memory;
    return instruction % 3 == 0 ? Unit::arithmetic : Unit::memory;
  }

  [[nodiscard]] int repetition(int instruction) const {
    return std::clamp((instruction - 1) / 3, 0, repetitions_ - 1);
  }

 private:
  int repetitions_;
};

/// The next instruction of each warp.
using Counters = std::vector<int>;
/// Warps that advance in one cycle.
using Warps = std::vector<std::size_t>;

Warps waiting_for(Unit unit, const Counters& counters, const Program& program) {
  Warps waiting;
  for (std::size_t warp = 0; warp < counters.size(); ++warp) {
    if (counters[warp] < program.size() && program.unit(counters[warp]) == unit) {
      waiting.push_back(warp);
    }
  }
  return waiting;
}

/// All sets of min(count, waiting) warps that a unit may serve; count is 1 or 2.
class Choices {
 public:
  Choices(const Counters& counters, const Program& program, Fairness fairness)
      : counters_(counters), program_(program), fairness_(fairness) {}

  [[nodiscard]] std::vector<Warps> of(Unit unit, std::size_t count) const {
    const Warps waiting = waiting_for(unit, counters_, program_);
    if (waiting.size() <= count) return {waiting};
    std::vector<Warps> sets;
    for (std::size_t a = 0; a < waiting.size(); ++a) {
      if (count == 1) add({waiting[a]}, waiting, sets);
      for (std::size_t b = a + 1; count == 2 && b < waiting.size(); ++b) {
        add({waiting[a], waiting[b]}, waiting, sets);
      }
    }
    return sets;
  }

 private:
  [[nodiscard]] int repetition(std::size_t warp) const {
    return program_.repetition(counters_[warp]);
  }

  /// Adds a set unless a warp that it leaves out is in an earlier repetition than one of its own.
  void add(const Warps& set, const Warps& waiting, std::vector<Warps>& sets) const {
    if (fairness_ == Fairness::by_repetition) {
      int latest = 0;
      for (const std::size_t warp : set) latest = std::max(latest, repetition(warp));
      for (const std::size_t warp : waiting) {
        const bool left_out = std::find(set.begin(), set.end(), warp) == set.end();
        if (left_out && repetition(warp) < latest) return;
      }
    }
    sets.push_back(set);
  }

  const Counters& counters_;
  const Program& program_;
  Fairness fairness_;
};

/// Remembers what is left to do from a state; warps are alike, so that only the sorted counters
/// matter.
class Search {
 public:
  Search(int repetitions, Fairness fairness) : program_(repetitions), fairness_(fairness) {}

  ScheduleRange from(const Counters& sorted) {
    if (sorted.front() == program_.size()) return {.worst = 0, .best = 0};
    if (const auto known = known_.find(sorted); known != known_.end()) return known->second;
    ScheduleRange range{.worst = 0, .best = std::numeric_limits<int>::max()};
    const Choices choices(sorted, program_, fairness_);
    const std::vector<Warps> memory = choices.of(Unit::memory, kMemoryWarps);
    for (const Warps& computing : choices.of(Unit::arithmetic, kArithmeticWarps)) {
      for (const Warps& loading : memory) {
        const ScheduleRange rest = from(advanced(sorted, computing, loading));
        range.worst = std::max(range.worst, rest.worst + 1);
        range.best = std::min(range.best, rest.best + 1);
      }
    }
    known_.emplace(sorted, range);
    return range;
  }

 private:
  static Counters advanced(Counters counters, const Warps& computing, const Warps& loading) {
    for (const std::size_t warp : computing) ++counters[warp];
    for (const std::size_t warp : loading) ++counters[warp];
    std::sort(counters.begin(), counters.end());
    return counters;
  }

  Program program_;
  Fairness fairness_;
  std::map<Counters, ScheduleRange> known_;
};

/// Lets the first `count` of the waiting warps advance, earlier repetitions first.
void advance_first(Warps waiting, std::size_t count, const Program& program, const Counters& before,
                   Counters& after) {
  std::stable_sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) {
    return program.repetition(before[a]) < program.repetition(before[b]);
  });
  waiting.resize(std::min(waiting.size(), count));
  for (const std::size_t warp : waiting) ++after[warp];
}

}  // namespace

WarpProgram WarpProgram::of_threads(int threads, int repetitions) {
  return {.warps = (threads + kThreadsPerWarp - 1) / kThreadsPerWarp, .repetitions = repetitions};
}

int formula_cycles(const WarpProgram& program) {
  return program.warps * (2 * program.repetitions + 1) + 2;
}

int safe_cycles(const WarpProgram& program) {
  return program.warps * (2 * program.repetitions + 1) + program.repetitions + 1;
}

ScheduleRange search_schedules(const WarpProgram& program, Fairness fairness) {
  if (program.warps < 1 || program.repetitions < 1 ||
      program.warps > kLargestSearch / program.repetitions) {
    throw std::invalid_argument(fmt::format(
        "A search of {} warps and {} repetitions; both must be at least 1, and their product at "
        "most {}",
        program.warps, program.repetitions, kLargestSearch));
  }
  return Search(program.repetitions, fairness).from(Counters(program.warps, 0));
}

int warp_after_warp_cycles(const WarpProgram& program) {
  const Program instructions(program.repetitions);
  Counters counters(program.warps, 0);
  int cycles = 0;
  for (; *std::min_element(counters.begin(), counters.end()) < instructions.size(); ++cycles) {
    Counters next = counters;
    advance_first(waiting_for(Unit::arithmetic, counters, instructions), kArithmeticWarps,
                  instructions, counters, next);
    advance_first(waiting_for(Unit::memory, counters, instructions), kMemoryWarps, instructions,
                  counters, next);
    counters = next;
  }
  return cycles;
}

}  // namespace tessera
