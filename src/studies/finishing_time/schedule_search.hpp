// These functions find the best and the worst schedule of a small program on one multiprocessor of
// the model that the study finishing-time explains.
#pragma once

namespace tessera {

/// W warps of one multiprocessor run C (L L C)^r S: arithmetic C, loads L, a store S. Every
/// instruction takes one cycle; in a cycle at most two warps execute a C, and one an L or S.
struct WarpProgram {
  int warps;
  int repetitions;  ///< r >= 1

  /// Warps of 16 threads, of which the last may have fewer: W = ceil(threads / 16).
  [[nodiscard]] static WarpProgram of_threads(int threads, int repetitions);
};

/// The formula of the document, W (2 r + 1) + 2 cycles: those of all loads and stores, the first
/// one and an idle one.
[[nodiscard]] int formula_cycles(const WarpProgram& program);

/// W (2 r + 1) + r + 1 cycles, which no schedule that was searched exceeds, fair or not.
[[nodiscard]] int safe_cycles(const WarpProgram& program);

/// Whether a unit prefers instructions of earlier repetitions to those of later ones (the first C
/// and the store count with the first and the last repetition) or takes any.
enum class Fairness { by_repetition, none };

/// The number of cycles of the worst and of the best schedule.
struct ScheduleRange {
  int worst;
  int best;

  bool operator==(const ScheduleRange&) const = default;
};

/// The largest W r that search_schedules() takes.
inline constexpr int kLargestSearch = 18;

/// All schedules in which no unit is idle while a warp waits for it, by exhaustive search.
/// @throws std::invalid_argument if W < 1, r < 1 or W r > kLargestSearch
[[nodiscard]] ScheduleRange search_schedules(const WarpProgram& program, Fairness fairness);

/// Cycles of the fair schedule in which each unit prefers the warp of the lowest number: warp after
/// warp.
[[nodiscard]] int warp_after_warp_cycles(const WarpProgram& program);

}  // namespace tessera
