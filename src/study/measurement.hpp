// A Measurement is one strategy measured on one problem.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "postprocess/timing/statistics.hpp"
#include "src/launches/launch_report.hpp"
#include "src/study/setup.hpp"
#include "src/study/study_ranks.hpp"

namespace tessera {

/// One strategy measured on one problem.
struct Measurement {
  StrategyName strategy;
  /// Why the strategy is not for the problem; the rest is meaningless unless this is empty.
  std::string unsuitable = {};
  /// Bytes that it needs at a time; the rest is meaningless unless they were there.
  Index needed_bytes = 0;
  bool fits = false;
  double setup_seconds = 0.0;
  /// Of all ranks together.
  Index operator_bytes = 0;
  int repetitions = 0;
  /// Seconds of one application: of the fastest repetition, and the median over repetitions.
  double min_seconds = 0.0;
  double median_seconds = 0.0;
  /// Seconds of one application of the fastest repetition that copies x to the GPU before and y
  /// back after its applications; 0 where that was not asked for.
  double transfer_seconds = 0.0;
  /// Least traffic and work of one application, of all ranks together.
  Cost cost;
  /// What was applied, as it calls itself.
  std::string operator_name = {};
  /// What an application launches on the GPU, where it was asked for.
  std::optional<LaunchReport> launches = {};
  /// relative_difference() of y = A x from the first strategy's that was measured.
  double difference = 0.0;
};

/// Measures strategies on one problem, one after another, as section 4 of the second paper does: a
/// repetition applies the operator `applications` times in succession to a random vector and is
/// timed as a whole; the fastest repetition counts. On the GPU its own events take the time.
///
/// Of several ranks, which call each function together, a repetition takes as long as the slowest
/// one takes, and bytes are those of the rank that needs most.
class Bench {
 public:
  /// Sets the number of OpenMP threads. Study and ranks must outlive this.
  /// @param launches if given, what applications launch on a GPU is reported, so
  /// @throws as make_study_part()
  Bench(const StudyParameters& study, const StudyProblem& problem, const StudyRanks& ranks,
        std::optional<WaveStep> launches = std::nullopt);

  /// Of the whole problem.
  Index dofs() const { return part_.whole().dof_count(); }
  /// Nonzeros of the assembled matrix.
  Index nonzeros() const;
  /// The kernel that the others' results are compared with; empty before anything is measured.
  const std::string& first_kernel() const { return first_kernel_; }
  /// Bytes that measuring a strategy takes in the memory of its processor.
  Index needed_bytes(const StrategyName& strategy) const;
  Measurement measure(const StrategyName& strategy, Index available_bytes);

 private:
  template <class T, class Space>
  void measure_in(Measurement& measurement);
  /// relative_difference(y, first); the first y, of this kernel, becomes `first`.
  template <class T>
  double difference_from_first(const HostVector<T>& y, const std::string& kernel);
  /// The times of seconds_of_one(), repeated as the study says.
  template <class F>
  Summary repeat(F&& seconds_of_one) const;

  const StudyParameters& study_;
  const StudyRanks& ranks_;
  StudyProblem problem_;
  std::optional<WaveStep> launches_;
  StudyPart part_;
  BilinearForm form_;  // refers to the part
  FormShape shape_;
  HostVector<double> reference_;
  std::string first_kernel_;
};

/// Bytes of the node positions and vectors of a problem in the host's memory, before anything is
/// made, and of its vectors in the GPU's.
/// @param partition of which the largest part is meant; nothing: the whole
Index bench_bytes(const StudyProblem& problem,
                  const std::optional<BoxPartition>& partition = std::nullopt);
Index gpu_bench_bytes(const StudyProblem& problem,
                      const std::optional<BoxPartition>& partition = std::nullopt);

/// max |y - first| / max |first|; 0 where both are 0, NaN where a value of either is not finite.
/// @param ranks that each have a part of both
template <class T>
double relative_difference(std::span<const T> y, std::span<const double> first,
                           const Communicator& ranks = single_rank());

/// The largest `difference` that still counts as agreement; the study's tolerance is meant for
/// double precision and grows with the rounding error in single precision, or that of the entries
/// of a kernel's matrix, the first one's or this one's.
double agreement_tolerance(const StudyParameters& study, Precision precision,
                           std::string_view first, std::string_view kernel);

}  // namespace tessera
