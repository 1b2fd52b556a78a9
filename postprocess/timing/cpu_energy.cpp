// This file finds RAPL counters and follows them when they wrap.
#include "postprocess/timing/cpu_energy.hpp"

#include <fstream>
#include <optional>
#include <system_error>

namespace tessera {
namespace {

namespace fs = std::filesystem;

// More watts than a package draws for longer than a moment.
constexpr double kMaxWatts = 1000.0;

std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

std::string word_in(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

}  // namespace

CpuEnergyCounter::CpuEnergyCounter(const fs::path& powercap, double seconds)
    : last_seconds_(seconds) {
  find_counters(powercap);
  if (failure_.empty() && counters_.empty()) {
    failure_ = "no energy counters in " + powercap.string();
  }
}

void CpuEnergyCounter::find_counters(const fs::path& powercap) {
  std::error_code error;
  for (fs::directory_iterator zone(powercap, error), end; !error && zone != end;
       zone.increment(error)) {
    // Names of other kinds (intel-rapl-mmio:0) show the same packages again.
    if (zone->path().filename().string().rfind("intel-rapl:", 0) != 0) continue;
    // Not the parts of a package (core, uncore), nor the platform (psys), which holds them all.
    const std::string name = word_in(zone->path() / "name");
    const bool is_memory = name == "dram";
    if (!is_memory && name.rfind("package", 0) != 0) continue;
    const fs::path file = zone->path() / "energy_uj";
    const std::optional<std::uint64_t> value = number_in(file);
    const std::optional<std::uint64_t> range = number_in(zone->path() / "max_energy_range_uj");
    if (!value || !range) {
      failure_ = (value ? zone->path() / "max_energy_range_uj" : file).string() + " cannot be read";
      return;
    }
    counts_memory_ = counts_memory_ || is_memory;
    counters_.push_back({file, *range, *value});
  }
}

void CpuEnergyCounter::sample(double seconds) {
  if (!failure_.empty()) return;
  const double most = 1e6 * kMaxWatts * (seconds - last_seconds_);
  last_seconds_ = seconds;
  for (Counter& counter : counters_) {
    const std::optional<std::uint64_t> value = number_in(counter.file);
    if (!value) {
      failure_ = counter.file.string() + " cannot be read";
      return;
    }
    const bool wrapped = *value < counter.last;
    if (most > static_cast<double>(counter.range) || (wrapped && counter.last > counter.range)) {
      failure_ = counter.file.string() + " may have wrapped unseen";
      return;
    }
    const std::uint64_t used = *value - counter.last + (wrapped ? counter.range : 0);
    joules_ += 1e-6 * static_cast<double>(used);
    counter.last = *value;
  }
}

}  // namespace tessera
