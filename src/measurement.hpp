#pragma once

#include "operators/strategy.hpp"
#include "src/study_setup.hpp"

namespace tessera {

/// One strategy measured on one problem.
struct Measurement {
  StrategyName strategy;
  /// Bytes that it needs at a time; the rest is meaningless unless they were there.
  Index needed_bytes = 0;
  bool fits = false;
  double setup_seconds = 0.0;
  Index operator_bytes = 0;
  int repetitions = 0;
  /// Seconds of one application: of the fastest repetition, and the median over repetitions.
  double min_seconds = 0.0;
  double median_seconds = 0.0;
  /// Least traffic and work of one application.
  Cost cost;
  /// max |y - y_first| / max |y_first|, with y_first = A x by the first strategy that was measured.
  double difference = 0.0;
};

/// Measures strategies on one problem, one after another, as section 4 of the second paper does: a
/// repetition applies the operator `applications` times in succession to a random vector and is
/// timed as a whole; the fastest repetition counts.
class Bench {
 public:
  /// Sets the number of OpenMP threads. @throws InvertedCell
  Bench(const StudyParameters& study, const StudyProblem& problem);

  Index dofs() const { return discretization_.lattice.size(); }
  Measurement measure(const StrategyName& strategy, Index available_bytes);

 private:
  template <class T>
  void measure_in(Measurement& measurement);

  const StudyParameters& study_;
  StudyProblem problem_;
  Discretization discretization_;
  StiffnessForm form_;
  HostVector<double> reference_;
};

/// Bytes of the node positions and vectors of a problem, before anything is made.
Index bench_bytes(const StudyProblem& problem);

/// The largest `difference` that still counts as agreement; the study's tolerance is meant for
/// double precision and grows with the rounding error in single precision.
double agreement_tolerance(const StudyParameters& study, Precision precision);

}  // namespace tessera
