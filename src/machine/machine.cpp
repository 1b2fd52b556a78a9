// This file reads /proc and /sys.
#include "src/machine/machine.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "mesh/lanes/simd.hpp"
#include "solvers/memory/device.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

double gibibytes(std::int64_t bytes) { return 0x1p-30 * static_cast<double>(bytes); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\n\"";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string first_line(const fs::path& path) {
  const std::vector<std::string> lines = lines_of(path);
  return lines.empty() ? std::string() : std::string(trimmed(lines.front()));
}

// The value after "key" and the separator, on the first such line.
std::optional<std::string> field(const fs::path& path, std::string_view key, char separator) {
  for (const std::string& line : lines_of(path)) {
    const std::size_t at = line.find(separator);
    if (at != std::string::npos && trimmed(std::string_view(line).substr(0, at)) == key)
      return std::string(trimmed(std::string_view(line).substr(at + 1)));
  }
  return std::nullopt;
}

// The leading number; a following K or kB, M, G multiplies.
std::optional<std::int64_t> number(std::string_view text) {
  text = trimmed(text);
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = trimmed({rest, static_cast<std::size_t>(text.end() - rest)});
  if (unit.empty()) return value;
  if (unit[0] == 'K' || unit[0] == 'k') return value << 10;
  if (unit[0] == 'M') return value << 20;
  if (unit[0] == 'G') return value << 30;
  return value;
}

std::optional<std::int64_t> number_in(const fs::path& path) { return number(first_line(path)); }

std::optional<std::int64_t> number_of(const fs::path& path, std::string_view key, char separator) {
  const std::optional<std::string> text = field(path, key, separator);
  return text ? number(*text) : std::nullopt;
}

// The directories of the control groups around this process, innermost first, up to the root of the
// hierarchy. A container sees its own group as that root whatever the kernel calls it.
// @param controller empty for version 2
std::vector<fs::path> control_groups(const fs::path& root, std::string_view controller) {
  std::vector<fs::path> directories;
  for (const std::string& line : lines_of(root / "proc/self/cgroup")) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    if (controllers.find(fmt::format(",{},", controller)) == std::string::npos) continue;
    const fs::path mount = root / "sys/fs/cgroup" / controller;
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    for (; !group.empty(); group = group.parent_path()) directories.push_back(mount / group);
    directories.push_back(mount);
  }
  return directories;
}

struct MemoryLimit {
  std::int64_t limit = kUnlimited;      // the lowest around this process
  std::int64_t available = kUnlimited;  // the least that is left below one of them
};

struct LimitFiles {
  std::string_view controller, limit, usage, reclaimable;
};

MemoryLimit memory_limit(const fs::path& root) {
  constexpr LimitFiles kVersions[] = {
      {"", "memory.max", "memory.current", "inactive_file"},
      {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}};
  MemoryLimit lowest;
  for (const LimitFiles& files : kVersions) {
    for (const fs::path& group : control_groups(root, files.controller)) {
      const std::optional<std::int64_t> limit = number_in(group / files.limit);
      if (!limit) continue;
      const std::int64_t usage = number_in(group / files.usage).value_or(0);
      const std::int64_t reclaimable =
          number_of(group / "memory.stat", files.reclaimable, ' ').value_or(0);
      const std::int64_t used = std::max<std::int64_t>(usage - reclaimable, 0);
      lowest.limit = std::min(lowest.limit, *limit);
      lowest.available = std::min(lowest.available, std::max<std::int64_t>(*limit - used, 0));
    }
  }
  return lowest;
}

// CPUs of time a second that a control group grants, rounded up.
int cpu_quota(const fs::path& root) {
  double quota = std::numeric_limits<int>::max();
  const auto lower = [&quota](std::optional<std::int64_t> time,
                              std::optional<std::int64_t> period) {
    if (time && period && *time > 0 && *period > 0)
      quota = std::min(quota, std::ceil(static_cast<double>(*time) / static_cast<double>(*period)));
  };
  for (const fs::path& group : control_groups(root, "")) {
    const std::string line = first_line(group / "cpu.max");
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    lower(number(line.substr(0, blank)), number(line.substr(blank + 1)));
  }
  for (const fs::path& group : control_groups(root, "cpu"))
    lower(number_in(group / "cpu.cfs_quota_us"), number_in(group / "cpu.cfs_period_us"));
  return static_cast<int>(quota);
}

// Those that OMP_PLACES or OMP_PROC_BIND give to the process, of which its first thread has only
// some; empty without these.
std::vector<int> cpus_in_places() {
  std::set<int> cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> numbers(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, numbers.data());
    cpus.insert(numbers.begin(), numbers.end());
  }
  return {cpus.begin(), cpus.end()};
}

fs::path cpu_directory(const fs::path& root, int cpu) {
  return root / "sys/devices/system/cpu" / fmt::format("cpu{}", cpu);
}

std::vector<int> first_of_each_core(const fs::path& root, const std::vector<int>& cpus) {
  std::set<std::string> cores;
  std::vector<int> first;
  for (const int cpu : cpus) {
    const fs::path topology = cpu_directory(root, cpu) / "topology";
    const std::string core = first_line(topology / "core_id");
    const bool is_new =
        cores
            .insert(core.empty()
                        ? fmt::format("cpu {}", cpu)
                        : fmt::format("{} {}", first_line(topology / "physical_package_id"), core))
            .second;
    if (is_new) first.push_back(cpu);
  }
  return first;
}

void read_caches(const fs::path& root, const std::vector<int>& cpus, Machine& machine) {
  std::set<std::string> l3_sharers;
  for (const int cpu : cpus) {
    for (int index = 0;; ++index) {
      const fs::path cache = cpu_directory(root, cpu) / "cache" / fmt::format("index{}", index);
      const std::optional<std::int64_t> level = number_in(cache / "level");
      if (!level) break;
      if (first_line(cache / "type") == "Instruction") continue;
      const std::int64_t bytes = number_in(cache / "size").value_or(0);
      if (*level == 1) machine.l1d_bytes = bytes;
      if (*level == 2) machine.l2_bytes = bytes;
      if (*level == 3) {
        machine.l3_bytes = bytes;
        l3_sharers.insert(first_line(cache / "shared_cpu_list"));
      }
    }
  }
  machine.l3_count = static_cast<int>(l3_sharers.size());
}

std::string_view simd_name() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__AVX__)
  return "AVX";
#elif defined(__SSE2__)
  return "SSE2";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "16-byte vectors";
#endif
}

std::string compiler_name() {
#if defined(__clang__)
  return fmt::format("Clang {}", __clang_version__);
#else
  return fmt::format("GCC {}", __VERSION__);
#endif
}

std::string os_name(const fs::path& root) {
  utsname kernel{};
  const std::string release =
      uname(&kernel) == 0 ? fmt::format("{} {}", kernel.sysname, kernel.release) : "unknown kernel";
  const std::optional<std::string> distribution =
      field(root / "etc/os-release", "PRETTY_NAME", '=');
  return distribution ? fmt::format("{}, {}", *distribution, release) : release;
}

std::string cpu_model(const fs::path& root) {
  const std::optional<std::string> model = field(root / "proc/cpuinfo", "model name", ':');
  return model && !model->empty() ? *model : "unknown CPU";
}

}  // namespace

std::vector<int> usable_cpus() {
  std::vector<int> cpus = cpus_in_places();
  if (!cpus.empty()) return cpus;
  // Machines with more CPUs than a fixed set holds make the call fail until the set is large
  // enough.
  for (std::size_t count = 1024; cpus.empty() && count <= (std::size_t{1} << 20); count *= 4) {
    cpu_set_t* set = CPU_ALLOC(count);
    if (set == nullptr) break;
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(count), set) == 0)
      for (std::size_t cpu = 0; cpu < count; ++cpu)
        if (CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(count), set)) cpus.push_back(static_cast<int>(cpu));
    CPU_FREE(set);
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int host_cpu_count(const std::filesystem::path& root) {
  const auto online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  return std::max(1, std::min(online, cpu_quota(root)));
}

Machine describe_machine(const std::filesystem::path& root) {
  Machine machine;
  const std::vector<int> cpus = usable_cpus();
  machine.cpu_model = cpu_model(root);
  machine.logical_cores = std::min(static_cast<int>(cpus.size()), cpu_quota(root));
  machine.physical_cores =
      std::min(static_cast<int>(first_of_each_core(root, cpus).size()), machine.logical_cores);
  machine.simd = fmt::format("{} ({} doubles)", simd_name(), kLanes<double>);
  read_caches(root, cpus, machine);
  machine.memory_bytes = std::min(number_of(root / "proc/meminfo", "MemTotal", ':').value_or(0),
                                  memory_limit(root).limit);
  machine.available_bytes = available_memory_bytes(root);
  machine.compiler = compiler_name();
  machine.os = os_name(root);
  return machine;
}

std::string machine_summary(const Machine& machine) {
  return fmt::format("{}, {} {}, {}, {:.1f} GiB, {}", machine.cpu_model, machine.logical_cores,
                     machine.logical_cores == 1 ? "core" : "cores", machine.simd,
                     gibibytes(machine.memory_bytes), machine.os);
}

std::string gpu_summary() {
  if constexpr (kHasCuda) {
    try {
      const DeviceInfo gpu = require_device();
      return fmt::format("{}, {} multiprocessors, {:.1f} GiB, {:.1f} free, CUDA {}.{}", gpu.name,
                         gpu.multiprocessors, gibibytes(gpu.memory_bytes),
                         gibibytes(gpu.free_bytes), gpu.driver_version / 1000,
                         gpu.driver_version % 1000 / 10);
    } catch (const NoDevice& error) {
      return error.what();
    }
  } else {
    return "none (built without CUDA)";
  }
}

std::int64_t available_memory_bytes(const std::filesystem::path& root) {
  return std::min(number_of(root / "proc/meminfo", "MemAvailable", ':').value_or(kUnlimited),
                  memory_limit(root).available);
}

std::vector<int> one_cpu_per_core(const std::filesystem::path& root) {
  std::vector<int> cpus = first_of_each_core(root, usable_cpus());
  cpus.resize(std::min<std::size_t>(cpus.size(), std::max(cpu_quota(root), 1)));
  return cpus;
}

int thread_count(int threads) { return threads > 0 ? threads : omp_get_num_procs(); }

}  // namespace tessera
