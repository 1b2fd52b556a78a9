// This file times repeated applications of an operator, and compares results.
#include "src/study/measurement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mesh/saturated.hpp"
#include "operators/csr/csr.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "solvers/memory/device.hpp"
#include "src/case/dispatch.hpp"
#include "src/case/memory/memory_estimate.hpp"
#include "src/case/ranks/rank_parts.hpp"
#include "src/case/shape.hpp"
#include "src/solve/solve_launches.hpp"
#include "src/solve/vector_conversion.hpp"
#include "src/solve/whole_work.hpp"
#include "src/study/stopwatch.hpp"

namespace tessera {
namespace {

constexpr int kMinRepetitions = 3;

// In [-1, 1), by a hash of the index (splitmix64): the same for any number of threads and ranks.
double random_value(Index i) {
  auto z = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL + 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

FaceSet all_faces(int dimension) { return FaceSet((1U << face_count(dimension)) - 1U); }

BilinearForm form_of(const StudyPart& part) {
  const Discretization& discretization = part.discretization;
  BilinearForm form{
      &discretization, constant_field(1.0), all_faces(discretization.mesh.dimension()), {}};
  return part.part ? form_on_part(std::move(form), discretization, part.part) : form;
}

}  // namespace

namespace {

// Of the largest part, if there are parts.
Index node_count(const StudyProblem& problem, const std::optional<BoxPartition>& partition) {
  const int degree = problem.degree;
  return partition ? part_dofs(*partition, largest_part(*partition, degree), degree)
                   : NodeLattice(make_study_mesh(problem), degree).size();
}

}  // namespace

Index bench_bytes(const StudyProblem& problem, const std::optional<BoxPartition>& partition) {
  const Index nodes = node_count(problem, partition);
  const Index positions = problem.geometry == StudyGeometry::mapped ? problem.dimension * 8 : 0;
  // x and y in the study's precision, y_first in double.
  // Threads, buffers and tables; the program itself is there already when memory is asked for.
  constexpr Index kBesideVectors = Index{24} << 20;
  return kBesideVectors + nodes * (positions + 2 * value_bytes(problem.precision) + 8);
}

Index gpu_bench_bytes(const StudyProblem& problem, const std::optional<BoxPartition>& partition) {
  return kCudaLibraryBytes + 2 * node_count(problem, partition) * value_bytes(problem.precision);
}

template <class T>
double relative_difference(std::span<const T> y, std::span<const double> first,
                           const Communicator& ranks) {
  double difference = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double distance = std::abs(static_cast<double>(y[i]) - first[i]);
    // Infinite values have no distance either, and what is divided by them is 0.
    if (!std::isfinite(distance)) {
      difference = std::numeric_limits<double>::quiet_NaN();
      break;
    }
    difference = std::max(difference, distance);
    largest = std::max(largest, std::abs(first[i]));
  }
  std::array<double, 2> of_all = {difference, largest};
  ranks.max(of_all);
  return of_all[0] == 0.0 ? 0.0 : of_all[0] / of_all[1];
}

template double relative_difference(std::span<const double>, std::span<const double>,
                                    const Communicator&);
template double relative_difference(std::span<const float>, std::span<const double>,
                                    const Communicator&);

double agreement_tolerance(const StudyParameters& study, Precision precision,
                           std::string_view first, std::string_view kernel) {
  constexpr double kRoundingRatio = 0x1p29;
  // Errors of many entries meet in a value of A x.
  constexpr double kEntries = 64.0;
  const double of_precision = precision == Precision::double_precision
                                  ? study.agree_tolerance
                                  : study.agree_tolerance * kRoundingRatio;
  return std::max({of_precision, kEntries * find_kernel(first)->entry_rounding,
                   kEntries * find_kernel(kernel)->entry_rounding});
}

Bench::Bench(const StudyParameters& study, const StudyProblem& problem, const StudyRanks& ranks,
             std::optional<WaveStep> launches)
    : study_(study),
      ranks_(ranks),
      problem_(problem),
      launches_(launches),
      part_(make_study_part(study, problem, ranks)),
      form_(form_of(part_)),
      shape_(form_shape(form_, study_processor(study), value_bytes(problem.precision))) {}

Index Bench::nonzeros() const { return csr_nonzeros(part_.whole(), all_faces(problem_.dimension)); }

Index Bench::needed_bytes(const StrategyName& strategy) const {
  const Processor processor = study_processor(study_);
  const std::optional<BoxPartition> partition = ranks_.partition(study_, problem_);
  const Index common = processor == Processor::cpu ? bench_bytes(problem_, partition)
                                                   : gpu_bench_bytes(problem_, partition);
  return ranks_.largest(Saturated(common) + operator_bytes(strategy, shape_).peak);
}

Measurement Bench::measure(const StrategyName& strategy, Index available_bytes) {
  Measurement measurement;
  measurement.strategy = strategy;
  const std::string reason = why_unsuitable(strategy, shape_);
  measurement.unsuitable = ranks_.all().agree(reason.empty() ? 0 : 1, reason).message;
  if (!measurement.unsuitable.empty()) return measurement;
  measurement.needed_bytes = needed_bytes(strategy);
  measurement.fits = measurement.needed_bytes <= available_bytes;
  if (!measurement.fits) return measurement;
  with_scalar_and_space(problem_.precision, study_processor(study_),
                        [&]<class T, class Space>() { measure_in<T, Space>(measurement); });
  return measurement;
}

template <class T>
double Bench::difference_from_first(const HostVector<T>& y, const std::string& kernel) {
  if (reference_.size() == 0) {
    first_kernel_ = kernel;
    reference_ = on_all_ranks(ranks_.all(), [&] { return HostVector<double>(y.size()); });
    for (Index i = 0; i < y.size(); ++i) reference_[i] = static_cast<double>(y[i]);
  }
  return relative_difference<T>(y.span(), reference_.span(), ranks_.all());
}

template <class F>
Summary Bench::repeat(F&& seconds_of_one) const {
  std::vector<double> seconds;
  const double start = seconds_now();
  while (static_cast<int>(seconds.size()) < study_.repetitions) {
    ranks_.stop_if_asked();
    seconds.push_back(ranks_.slowest(seconds_of_one()));
    const bool is_enough = static_cast<int>(seconds.size()) >= kMinRepetitions;
    if (is_enough && ranks_.as_root_says(seconds_now() - start > study_.time_limit_s)) break;
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
HostVector<T> random_vector(const VectorLayout& layout) {
  HostVector<T> x(layout);
#pragma omp parallel for schedule(static)
  for (Index i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(random_value(layout.whole_number(i)));
  }
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
  measurement.setup_seconds = ranks_.slowest(measurement.setup_seconds);
  auto bytes = static_cast<double>(a->bytes());
  ranks_.all().sum({&bytes, 1});
  measurement.operator_bytes = static_cast<Index>(bytes);
  const Work work = work_of_all_ranks(*a);
  measurement.cost = {work.bytes, work.flops};
  measurement.operator_name = a->name();

  const VectorLayout layout = a->layout();
  Vector<T, Space> x;
  Vector<T, Space> y;
  on_all_ranks(ranks_.all(), [&] {
    x = moved_to<Space>(random_vector<T>(layout));
    y = Vector<T, Space>(layout);
  });
  fill(y, std::numeric_limits<T>::quiet_NaN());
  a->apply(x, y);
  measurement.difference = difference_from_first(on_host(y), measurement.strategy.kernel);
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
  const HostVector<T> start = random_vector<T>(layout);
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
