// This file times repeated applications of an operator, and compares results.
#include "src/study/measurement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mesh/saturated.hpp"
#include "operators/csr/csr.hpp"
#include "solvers/interruption.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/shape.hpp"
#include "src/solve/solve_launches.hpp"
#include "src/solve/vector_conversion.hpp"
#include "src/study/stopwatch.hpp"

namespace tessera {
namespace {

constexpr int kLeastRepetitions = 3;

// In [-1, 1), by a hash of the index (splitmix64): the same for any number of threads.
double random_value(Index i) {
  auto z = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

FaceSet all_faces(int dimension) { return FaceSet((1U << face_count(dimension)) - 1U); }

}  // namespace

Index bench_bytes(const StudyProblem& problem) {
  const NodeLattice lattice(make_study_mesh(problem), problem.degree);
  const Index positions = problem.geometry == StudyGeometry::mapped ? problem.dimension * 8 : 0;
  // x and y in the study's precision, y_first in double.
  // Threads, buffers and tables; the program itself is there already when memory is asked for.
  constexpr Index kBesideVectors = Index{24} << 20;
  return kBesideVectors + lattice.size() * (positions + 2 * value_bytes(problem.precision) + 8);
}

Index gpu_bench_bytes(const StudyProblem& problem) {
  const NodeLattice lattice(make_study_mesh(problem), problem.degree);
  return kCudaLibraryBytes + 2 * lattice.size() * value_bytes(problem.precision);
}

template <class T>
double relative_difference(std::span<const T> y, std::span<const double> first) {
  double difference = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double distance = std::abs(static_cast<double>(y[i]) - first[i]);
    // Infinite values have no distance either, and what is divided by them is 0.
    if (!std::isfinite(distance)) return std::numeric_limits<double>::quiet_NaN();
    difference = std::max(difference, distance);
    largest = std::max(largest, std::abs(first[i]));
  }
  return difference == 0.0 ? 0.0 : difference / largest;
}

template double relative_difference(std::span<const double>, std::span<const double>);
template double relative_difference(std::span<const float>, std::span<const double>);

double agreement_tolerance(const StudyParameters& study, Precision precision) {
  constexpr double kRoundingRatio = 0x1p29;
  return precision == Precision::double_precision ? study.agree_tolerance
                                                  : study.agree_tolerance * kRoundingRatio;
}

Bench::Bench(const StudyParameters& study, const StudyProblem& problem,
             std::optional<WaveStep> launches)
    : study_(study),
      problem_(problem),
      launches_(launches),
      discretization_(make_study_discretization(study, problem)),
      form_{&discretization_, constant_field(1.0), all_faces(problem.dimension), {}},
      shape_(form_shape(form_, study_processor(study), value_bytes(problem.precision))) {}

Index Bench::nonzeros() const { return csr_nonzeros(discretization_.lattice, form_.dirichlet); }

Index Bench::needed_bytes(const StrategyName& strategy) const {
  const Processor processor = study_processor(study_);
  const Index common =
      processor == Processor::cpu ? bench_bytes(problem_) : gpu_bench_bytes(problem_);
  return Saturated(common) + operator_bytes(strategy, shape_).peak;
}

Measurement Bench::measure(const StrategyName& strategy, Index available_bytes) {
  Measurement measurement;
  measurement.strategy = strategy;
  measurement.unsuitable = why_unsuitable(strategy, shape_);
  if (!measurement.unsuitable.empty()) return measurement;
  measurement.needed_bytes = needed_bytes(strategy);
  measurement.fits = measurement.needed_bytes <= available_bytes;
  if (!measurement.fits) return measurement;
  with_scalar_and_space(problem_.precision, study_processor(study_),
                        [&]<class T, class Space>() { measure_in<T, Space>(measurement); });
  return measurement;
}

template <class T>
double Bench::difference_from_first(const HostVector<T>& y) {
  if (reference_.size() == 0) {
    reference_ = HostVector<double>(y.size());
    for (Index i = 0; i < y.size(); ++i) reference_[i] = static_cast<double>(y[i]);
  }
  return relative_difference<T>(y.span(), reference_.span());
}

template <class F>
Summary Bench::repeat(F&& seconds_of_one) const {
  std::vector<double> seconds;
  const double start = seconds_now();
  while (static_cast<int>(seconds.size()) < study_.repetitions) {
    stop_if_requested();
    seconds.push_back(seconds_of_one());
    if (static_cast<int>(seconds.size()) >= kLeastRepetitions &&
        seconds_now() - start > study_.time_limit_s) {
      break;
    }
  }
  return summarize(std::move(seconds));
}

namespace {

void take_times(const Summary& times, Measurement& measurement) {
  measurement.repetitions = times.count;
  measurement.min_seconds = times.minimum;
  measurement.median_seconds = times.median;
}

template <class T>
HostVector<T> random_vector(Index n) {
  HostVector<T> x(n);
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < n; ++i) x[i] = static_cast<T>(random_value(i));
  return x;
}

}  // namespace

template <class T, class Space>
void Bench::measure_in(Measurement& measurement) {
  synchronize<Space>();
  const double setup_start = seconds_now();
  const auto a = make_operator<T, Space>(measurement.strategy, form_);
  synchronize<Space>();
  measurement.setup_seconds = seconds_now() - setup_start;
  measurement.operator_bytes = a->bytes();
  measurement.cost = a->cost();
  measurement.operator_name = a->name();

  Vector<T, Space> x = moved_to<Space>(random_vector<T>(a->size()));
  Vector<T, Space> y(a->size());
  fill(y, std::numeric_limits<T>::quiet_NaN());
  a->apply(x, y);
  measurement.difference = difference_from_first(on_host(y));
  Stopwatch<Space> stopwatch;
  take_times(repeat([&] {
               stopwatch.start();
               for (int n = 0; n < study_.applications; ++n) a->apply(x, y);
               return stopwatch.stop() / study_.applications;
             }),
             measurement);
  if constexpr (kHasCuda && std::is_same_v<Space, Device>) {
    if (launches_) measurement.launches = apply_launches(*a, *launches_);
  }
  if (kProcessorOf<Space> == Processor::cpu || !study_.transfers) return;
  const HostVector<T> start = random_vector<T>(a->size());
  HostVector<T> result(a->size());
  measurement.transfer_seconds = repeat([&] {
                                   stopwatch.start();
                                   copy(start, x);
                                   for (int n = 0; n < study_.applications; ++n) a->apply(x, y);
                                   copy(y, result);
                                   return stopwatch.stop() / study_.applications;
                                 }).minimum;
}

}  // namespace tessera
