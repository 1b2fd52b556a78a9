// This file measures bandwidths of memory and caches, and the peak of multiply-adds.
#include "src/machine/cpu_rates.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/simd.hpp"
#include "mesh/partition.hpp"
#include "postprocess/timing/clock.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tessera {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20;
// A virtual machine shows the whole cache of its host, which few threads do not have to themselves.
constexpr std::int64_t kL3BytesOfThread = 32 * kMebi;

// Kept from becoming one call of a library's copy, whose choice of stores is not ours.
[[gnu::optimize("no-tree-loop-distribute-patterns")]] void copy_plain(const double* x, double* y,
                                                                      Range part) {
#pragma omp simd
  for (Index i = part.begin; i < part.end; ++i) y[i] = x[i];
}

// Stores past the caches where the instruction set has them; parts begin at even indices.
void copy_streaming(const double* x, double* y, Range part) {
#if defined(__SSE2__)
  for (Index i = part.begin; i < part.end; i += 2) _mm_stream_pd(y + i, _mm_load_pd(x + i));
  _mm_sfence();
#else
  copy_plain(x, y, part);
#endif
}

void update(const double* x, double* y, Range part) {
#pragma omp simd
  for (Index i = part.begin; i < part.end; ++i) y[i] += 0x1p-60 * x[i];
}

void read(const double* x, double* y, Range part) {
  // One sum would wait for its own latency; parts are whole cache lines.
  constexpr int kChains = 32;
  double sums[kChains] = {};
  for (Index i = part.begin; i + kChains <= part.end; i += kChains) {
    for (int chain = 0; chain < kChains; ++chain) sums[chain] += x[i + chain];
  }
  if (part.begin < part.end) y[part.begin] = std::accumulate(sums, sums + kChains, 0.0);
}

// Runs f on every thread's part of [0, n), in whole cache lines.
template <class F>
void on_parts(int threads, Index n, F&& f) {
  constexpr Index kLine = 8;
#pragma omp parallel num_threads(threads)
  {
    const Range lines = partition(n / kLine, omp_get_thread_num(), omp_get_num_threads());
    f(Range{lines.begin * kLine, lines.end * kLine});
  }
}

Index bandwidth_array_size(int threads) {
  const Machine machine = describe_machine();
  const std::int64_t l3_bytes = machine.l3_bytes * std::min(threads, std::max(machine.l3_count, 1));
  const std::int64_t enough = std::max(256 * kMebi, threads * kL3BytesOfThread);
  const std::int64_t wanted = std::max<std::int64_t>(std::min(2 * l3_bytes, enough), 64 * kMebi);
  const std::int64_t allowed = available_memory_bytes() / 8;
  const std::int64_t bytes = std::max(std::min(wanted, allowed), kMebi);
  return bytes / kMebi * kMebi / static_cast<std::int64_t>(sizeof(double));
}

// What all threads do a second, `amount` in each call of work(thread): the sum of what each does in
// the fastest tenth of its calls. A thread that loses its core for a while does not count for less,
// and one that runs on alone at the end not for more.
template <class Work>
double rate_of_all(int threads, double amount, double seconds, Work&& work) {
  constexpr std::size_t kMaxCalls = 64;
  constexpr std::size_t kMinCalls = 5;
  double rate = 0.0;
#pragma omp parallel num_threads(threads) reduction(+ : rate)
  {
    const int thread = omp_get_thread_num();
    std::array<double, kMaxCalls> calls = {};
    std::size_t count = 0;
    work(thread);
#pragma omp barrier
    const double start = seconds_now();
    for (double now = start; count < kMaxCalls && (count < kMinCalls || now - start < seconds);) {
      const double before = now;
      work(thread);
      now = seconds_now();
      calls[count++] = now - before;
    }
    double* const fast = calls.data() + count / 10;
    std::nth_element(calls.data(), fast, calls.data() + count);
    rate += amount / *fast;
  }
  return rate;
}

// Chains of multiply-adds that do not wait for each other: what latency and pipes ask for, as far
// as there are registers.
#if defined(__AVX512F__) || defined(__ARM_NEON)
constexpr int kFmaChains = 16;
#else
constexpr int kFmaChains = 12;
#endif

// Each chain in a variable of its own; contracted to multiply-adds in every build.
template <class T, class... Chain>
[[gnu::noinline, gnu::optimize("O2")]] T multiply_add(int steps, Lanes<T> factor, Lanes<T> term,
                                                      Chain... sums) {
  for (int step = 0; step < steps; ++step) ((sums = sums * factor + term), ...);
  return (sums[0] + ...);
}

template <class T, int... chain>
T run_chains(int steps, std::integer_sequence<int, chain...>) {
  return multiply_add<T>(steps, broadcast(T(0.5)), broadcast(T(1)),
                         broadcast(static_cast<T>(chain))...);
}

template <class T>
double measure_flops(int threads) {
  constexpr int kSteps = 20'000;
  constexpr double kSeconds = 0.01;
  constexpr double kFlops = 2.0 * kLanes<T> * kFmaChains * kSteps;
  // Read in each call, and the result used: else the compiler would compute it once, or never.
  const volatile int steps = kSteps;
  std::atomic<T> sink{0};
  return rate_of_all(threads, kFlops, kSeconds, [&](int) {
    sink.store(run_chains<T>(steps, std::make_integer_sequence<int, kFmaChains>()),
               std::memory_order_relaxed);
  });
}

}  // namespace

Bandwidth measure_bandwidth(int threads) {
  constexpr double kSeconds = 0.3;
  constexpr int kRepetitions = 3;
  const double start = seconds_now();
  const Index n = bandwidth_array_size(threads);
  const UncountedMemory arrays;
  HostArray<double> x(static_cast<std::size_t>(n));
  HostArray<double> y(static_cast<std::size_t>(n));
  on_parts(threads, n, [&](Range part) {
    std::fill(x.begin() + part.begin, x.begin() + part.end, 1.0);
    std::fill(y.begin() + part.begin, y.begin() + part.end, 0.0);
  });

  using Sweep = void (*)(const double*, double*, Range);
  const auto seconds_of = [&](Sweep sweep) {
    const double sweep_start = seconds_now();
    on_parts(threads, n, [&](Range part) { sweep(x.data(), y.data(), part); });
    return seconds_now() - sweep_start;
  };
  double copy_seconds = std::numeric_limits<double>::infinity();
  double update_seconds = copy_seconds;
  double read_seconds = copy_seconds;
  // In turns, so that a disturbance hits all alike.
  for (int r = 0; r < kRepetitions || seconds_now() - start < kSeconds; ++r) {
    copy_seconds = std::min({copy_seconds, seconds_of(copy_plain), seconds_of(copy_streaming)});
    update_seconds = std::min(update_seconds, seconds_of(update));
    read_seconds = std::min(read_seconds, seconds_of(read));
  }
  const double values = static_cast<double>(n);
  return {16.0 * values / copy_seconds, 24.0 * values / update_seconds,
          8.0 * values / read_seconds};
}

std::vector<CacheRate> cache_levels(const Machine& machine, int threads) {
  const int cores = std::clamp(threads, 1, std::max(machine.physical_cores, 1));
  const std::int64_t l3_bytes =
      std::min(machine.l3_bytes * std::min(cores, std::max(machine.l3_count, 1)),
               threads * kL3BytesOfThread);
  std::vector<CacheRate> levels;
  for (const std::int64_t bytes : {cores * machine.l1d_bytes, cores * machine.l2_bytes, l3_bytes}) {
    const std::string name = fmt::format("L{}", levels.size() + 1);
    if (static_cast<double>(bytes) <= (levels.empty() ? 0.0 : levels.back().bytes)) break;
    levels.push_back({name, static_cast<double>(bytes), 0.0});
  }
  return levels;
}

std::vector<double> measure_caches(const std::vector<CacheRate>& levels, int threads) {
  constexpr Index kLine = 8;
  constexpr Index kValuesPerTiming = Index{1} << 20;
  constexpr double kSeconds = 0.004;
  // Of x or y of a thread: half of the level, but too much for the level before.
  const auto values = [&](std::size_t level) {
    const double before = level == 0 ? 0.0 : levels[level - 1].bytes;
    const double bytes =
        std::max(0.5 * levels[level].bytes, std::min(2.0 * before, levels[level].bytes));
    return std::max<Index>(static_cast<Index>(bytes / (16.0 * threads)) / kLine, 1) * kLine;
  };
  Index most = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) most = std::max(most, values(level));
  const UncountedMemory arrays;
  HostArray<double> x(static_cast<std::size_t>(most * threads));
  HostArray<double> y(static_cast<std::size_t>(most * threads));
#pragma omp parallel num_threads(threads)
  {
    const Index first = omp_get_thread_num() * most;
    std::fill_n(x.begin() + first, most, 1.0);
    std::fill_n(y.begin() + first, most, 0.0);
  }
  std::vector<double> rates;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const Index n = values(level);
    const Index passes = std::max<Index>(kValuesPerTiming / n, 1);
    const auto rate_of = [&](void (*sweep)(const double*, double*, Range), double value_bytes) {
      return rate_of_all(threads, value_bytes * static_cast<double>(n * passes), kSeconds,
                         [&](int thread) {
                           const Index first = thread * most;
                           for (Index pass = 0; pass < passes; ++pass) {
                             sweep(x.data(), y.data(), {first, first + n});
                           }
                         });
    };
    rates.push_back(std::max(rate_of(copy_plain, 16.0), rate_of(read, 8.0)));
  }
  return rates;
}

FlopRates measure_flop_rates(int threads) {
  return {measure_flops<double>(threads), measure_flops<float>(threads)};
}

}  // namespace tessera
