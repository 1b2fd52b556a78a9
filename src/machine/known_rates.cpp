// This file keeps what was measured of machines in a file of the user's cache.
#include "src/machine/known_rates.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operators/form/on_all_ranks.hpp"
#include "postprocess/files/atomic_file.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// What is measured of memory and caches depends on it.
#if !defined(NDEBUG)
constexpr const char* kBuild = "build with checks";
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* kBuild = "build with sanitizers";
#else
constexpr const char* kBuild = "optimized build";
#endif

/// Bytes or operations per second, by what they belong to.
using Figures = std::vector<double>;
using KnownFigures = std::map<std::string, Figures>;

KnownFigures read_figures(const fs::path& file) {
  std::error_code unknown;
  // Reading a directory would throw.
  if (!fs::is_regular_file(file, unknown)) return {};
  std::ifstream in(file);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object()) return {};
  KnownFigures known;
  for (const auto& [key, figures] : json.items()) {
    const auto is_number = [](const nlohmann::json& figure) { return figure.is_number(); };
    if (figures.is_array() && std::all_of(figures.begin(), figures.end(), is_number)) {
      known[key] = figures.get<Figures>();
    }
  }
  return known;
}

bool are_rates(const Figures& figures, std::size_t count) {
  return figures.size() == count && std::all_of(figures.begin(), figures.end(), [](double figure) {
           return std::isfinite(figure) && figure > 0.0;
         });
}

void write_figures(const fs::path& path, const KnownFigures& figures) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  try {
    write_text_file(path, nlohmann::json(figures).dump(2) + "\n");
  } catch (const OutputError&) {
    // The next run measures again.
  }
}

Figures known_figures(const std::string& key, std::size_t count, Measure when,
                      const std::function<Figures()>& measure) {
  const fs::path file = rates_file();
  if (when == Measure::once && !file.empty()) {
    const KnownFigures known = read_figures(file);
    const auto found = known.find(key);
    if (found != known.end() && are_rates(found->second, count)) return found->second;
  }
  Figures measured = measure();
  if (!file.empty() && are_rates(measured, count)) {
    // Another run may have written meanwhile.
    KnownFigures known = read_figures(file);
    known[key] = measured;
    write_figures(file, known);
  }
  return measured;
}

}  // namespace

fs::path rates_file() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) {
    return fs::path(cache) / "tessera" / "bandwidths.json";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || !fs::path(home).is_absolute()) return {};
  return fs::path(home) / ".cache" / "tessera" / "bandwidths.json";
}

MeasuredRates known_rates(int asked_threads, Measure when) {
  const Machine machine = describe_machine();
  // More than that take turns, and each would count as if it had a CPU.
  const int threads = std::min(asked_threads, omp_get_num_procs());
  const std::string where =
      fmt::format("{}, {}, {} cores, {} bytes of L3, {} threads, {}", machine.cpu_model,
                  machine.simd, machine.physical_cores, machine.l3_bytes, threads, kBuild);
  MeasuredRates rates;
  const Figures memory = known_figures("copy, update, read: " + where, 3, when, [&]() -> Figures {
    const Bandwidth measured = measure_bandwidth(threads);
    return {measured.copy, measured.update, measured.read};
  });
  rates.memory = {memory[0], memory[1], memory[2]};
  const Figures flops = known_figures("fma in double, single: " + where, 2, when, [&]() -> Figures {
    const FlopRates measured = measure_flop_rates(threads);
    return {measured.in_double, measured.in_single};
  });
  rates.fma = {flops[0], flops[1]};
  rates.caches = cache_levels(machine, threads);
  std::string sizes = "caches of";
  for (const CacheRate& level : rates.caches) sizes += fmt::format(" {:.0f}", level.bytes);
  const Figures caches =
      known_figures(fmt::format("{} bytes: {}", sizes, where), rates.caches.size(), when,
                    [&] { return measure_caches(rates.caches, threads); });
  for (std::size_t i = 0; i < caches.size(); ++i) rates.caches[i].bytes_per_second = caches[i];
  return rates;
}

MeasuredRates rates_of_ranks(const Communicator& ranks, int threads, int hosts) {
  const Machine machine = describe_machine();
  std::vector<CacheRate> caches = cache_levels(machine, threads);
  // As many levels on all.
  double levels = static_cast<double>(caches.size());
  ranks.min({&levels, 1});
  caches.resize(static_cast<std::size_t>(levels));
  // Each is begun together.
  const Bandwidth memory = on_all_ranks(ranks, [&] { return measure_bandwidth(threads); });
  const FlopRates fma = on_all_ranks(ranks, [&] { return measure_flop_rates(threads); });
  const Figures of_caches = on_all_ranks(ranks, [&] { return measure_caches(caches, threads); });
  Figures sums = {memory.copy, memory.update, memory.read, fma.in_double, fma.in_single};
  for (std::size_t i = 0; i < caches.size(); ++i) {
    sums.insert(sums.end(), {of_caches[i], caches[i].bytes});
  }
  ranks.sum(sums);
  MeasuredRates rates{{sums[0], sums[1], sums[2]}, {sums[3], sums[4]}, std::move(caches)};
  // Ranks of one host may reach the same cache.
  const double shared = static_cast<double>(machine.l3_bytes) * machine.l3_count * hosts;
  for (std::size_t i = 0; i < rates.caches.size(); ++i) {
    CacheRate& cache = rates.caches[i];
    cache.bytes_per_second = sums[5 + 2 * i];
    cache.bytes = cache.name == "L3" ? std::min(sums[6 + 2 * i], shared) : sums[6 + 2 * i];
  }
  return rates;
}

MeasuredRates known_device_rates([[maybe_unused]] const DeviceInfo& gpu,
                                 [[maybe_unused]] Measure when) {
  MeasuredRates rates;
  if constexpr (kHasCuda) {
    const std::string where =
        fmt::format("{}, {} bytes, driver {}", gpu.name, gpu.memory_bytes, gpu.driver_version);
    rates.memory.copy = known_figures("copy: " + where, 1, when,
                                      [] { return Figures{measure_device_copy_bandwidth()}; })[0];
    const Figures peaks =
        known_figures("L2, fma in double, single: " + where, 3, when, [&]() -> Figures {
          const DevicePeaks measured = measure_device_peaks();
          return {measured.l2_bytes_per_second, measured.double_flops_per_second,
                  measured.single_flops_per_second};
        });
    rates.caches = {{"L2", static_cast<double>(gpu.l2_bytes), peaks[0]}};
    rates.fma = {peaks[1], peaks[2]};
  }
  return rates;
}

MeasuredRates device_rates_of_ranks([[maybe_unused]] const Communicator& ranks,
                                    [[maybe_unused]] int sharing) {
  MeasuredRates rates;
  if constexpr (kHasCuda) {
    // Each is begun together.
    const double copy = on_all_ranks(ranks, measure_device_copy_bandwidth);
    const DevicePeaks peaks = on_all_ranks(ranks, measure_device_peaks);
    const double cache = static_cast<double>(require_device().l2_bytes) / sharing;
    Figures sums = {copy, peaks.l2_bytes_per_second, peaks.double_flops_per_second,
                    peaks.single_flops_per_second, cache};
    ranks.sum(sums);
    rates.memory.copy = sums[0];
    rates.fma = {sums[2], sums[3]};
    rates.caches = {{"L2", sums[4], sums[1]}};
  }
  return rates;
}

}  // namespace tessera
