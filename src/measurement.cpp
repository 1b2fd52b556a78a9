#include "src/measurement.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "src/memory_estimate.hpp"

namespace tessera {
namespace {

constexpr int kLeastRepetitions = 3;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// In [-1, 1), by a hash of the index (splitmix64): the same for any number of threads.
double random_value(Index i) {
  auto z = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

FaceSet all_faces(int dimension) { return FaceSet((1U << face_count(dimension)) - 1U); }

int thread_count(const StudyProblem& problem) {
  return problem.threads > 0 ? problem.threads : omp_get_num_procs();
}

Discretization discretization_for(const StudyParameters& study, const StudyProblem& problem) {
  omp_set_num_threads(thread_count(problem));
  return make_study_discretization(study, problem);
}

}  // namespace

Index bench_bytes(const StudyProblem& problem) {
  const NodeLattice lattice(make_study_mesh(problem), problem.degree);
  const Index positions = problem.geometry == StudyGeometry::mapped ? problem.dimension * 8 : 0;
  // x and y in the study's precision, y_first in double.
  return kProgramBytes + lattice.size() * (positions + 2 * value_bytes(problem.precision) + 8);
}

double agreement_tolerance(const StudyParameters& study, Precision precision) {
  constexpr double kRoundingRatio = 0x1p29;
  return precision == Precision::double_precision ? study.agree_tolerance
                                                  : study.agree_tolerance * kRoundingRatio;
}

Bench::Bench(const StudyParameters& study, const StudyProblem& problem)
    : study_(study),
      problem_(problem),
      discretization_(discretization_for(study, problem)),
      form_{&discretization_, constant_field(1.0), all_faces(problem.dimension), {}} {}

Measurement Bench::measure(const StrategyName& strategy, Index available_bytes) {
  Measurement measurement;
  measurement.strategy = strategy;
  const FactorKind kind = factor_kind(discretization_.mapping, form_.coefficient);
  const Index common = bench_bytes(problem_);
  measurement.needed_bytes =
      common +
      operator_peak_bytes(strategy,
                          {discretization_.mesh, discretization_.lattice, form_.dirichlet, kind,
                           discretization_.basis.point_count(), value_bytes(problem_.precision)});
  measurement.fits = measurement.needed_bytes <= available_bytes;
  if (!measurement.fits) return measurement;
  if (problem_.precision == Precision::double_precision) {
    measure_in<double>(measurement);
  } else {
    measure_in<float>(measurement);
  }
  return measurement;
}

template <class T>
void Bench::measure_in(Measurement& measurement) {
  const double setup_start = seconds_now();
  const auto a = make_operator<T>(measurement.strategy, form_);
  measurement.setup_seconds = seconds_now() - setup_start;
  measurement.operator_bytes = a->bytes();
  measurement.cost = a->cost();

  HostVector<T> x(a->size());
  HostVector<T> y(a->size());
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < x.size(); ++i) x[i] = static_cast<T>(random_value(i));
  fill(y, std::numeric_limits<T>::quiet_NaN());
  a->apply(x, y);

  if (reference_.size() == 0) {
    reference_ = HostVector<double>(a->size());
    for (Index i = 0; i < y.size(); ++i) reference_[i] = static_cast<double>(y[i]);
  }
  double difference = 0.0;
  double largest = 0.0;
  for (Index i = 0; i < y.size(); ++i) {
    const double distance = std::abs(static_cast<double>(y[i]) - reference_[i]);
    // A NaN must not pass as a small number.
    if (!(distance <= difference)) difference = distance;
    largest = std::max(largest, std::abs(reference_[i]));
  }
  measurement.difference = difference / largest;

  std::vector<double> seconds;
  const double start = seconds_now();
  while (static_cast<int>(seconds.size()) < study_.repetitions) {
    const double before = seconds_now();
    for (int n = 0; n < study_.applications; ++n) a->apply(x, y);
    const double after = seconds_now();
    seconds.push_back((after - before) / study_.applications);
    if (static_cast<int>(seconds.size()) >= kLeastRepetitions &&
        after - start > study_.time_limit_s) {
      break;
    }
  }
  std::sort(seconds.begin(), seconds.end());
  measurement.repetitions = static_cast<int>(seconds.size());
  measurement.min_seconds = seconds.front();
  const std::size_t half = seconds.size() / 2;
  measurement.median_seconds =
      seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
}

}  // namespace tessera
