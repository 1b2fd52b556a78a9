// These tests describe machines that are made up, and this one.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mesh/lanes/simd.hpp"
#include "src/machine/cpu_check.hpp"
#include "src/machine/known_rates.hpp"
#include "src/machine/machine.hpp"
#include "src/machine/shared_cores.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

using testing::TemporaryDirectory;

constexpr std::int64_t kMebi = std::int64_t{1} << 20;

// A directory that stands for / with the files that the system would show.
class FakeSystem {
 public:
  const std::filesystem::path& root() const { return directory_.path(); }

  void write(const std::filesystem::path& path, const std::string& content) const {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << content;
  }

 private:
  TemporaryDirectory directory_;
};

class AvailableMemory : public ::testing::Test {
 protected:
  AvailableMemory() {
    system.write("proc/meminfo",
                 "MemTotal:       16777216 kB\nMemFree:          1048576 kB\n"
                 "MemAvailable:    8388608 kB\n");
  }

  FakeSystem system;
};

TEST_F(AvailableMemory, IsWhatTheKernelSaysWithoutALimit) {
  EXPECT_EQ(available_memory_bytes(system.root()), 8192 * kMebi);
  system.write("proc/self/cgroup", "0::/user.slice\n");
  system.write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  system.write("sys/fs/cgroup/user.slice/memory.current", "1000000\n");
  EXPECT_EQ(available_memory_bytes(system.root()), 8192 * kMebi);
  EXPECT_EQ(describe_machine(system.root()).memory_bytes, 16384 * kMebi);
}

TEST_F(AvailableMemory, IsUnlimitedWhereNothingIsKnown) {
  const FakeSystem empty;
  EXPECT_EQ(available_memory_bytes(empty.root()), std::numeric_limits<std::int64_t>::max());
}

TEST_F(AvailableMemory, HonorsTheTightestGroupOfVersion2) {
  system.write("proc/self/cgroup", "0::/batch/job\n");
  system.write("sys/fs/cgroup/batch/job/memory.max", "4294967296\n");      // 4096 MiB
  system.write("sys/fs/cgroup/batch/job/memory.current", "1073741824\n");  // 1024 MiB
  system.write("sys/fs/cgroup/batch/job/memory.stat",
               "anon 536870912\ninactive_file 268435456\n");  // 256 MiB of it can be dropped
  EXPECT_EQ(available_memory_bytes(system.root()), (4096 - 1024 + 256) * kMebi);
  EXPECT_EQ(describe_machine(system.root()).memory_bytes, 4096 * kMebi);

  system.write("sys/fs/cgroup/batch/memory.max", "2147483648\n");
  system.write("sys/fs/cgroup/batch/memory.current", "2147483648\n");
  EXPECT_EQ(available_memory_bytes(system.root()), 0);
  EXPECT_EQ(describe_machine(system.root()).memory_bytes, 2048 * kMebi);
}

TEST_F(AvailableMemory, HonorsVersion1) {
  system.write("proc/self/cgroup", "5:cpuacct,cpu:/docker/1\n4:memory:/docker/1\n0::/\n");
  system.write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "1073741824\n");
  system.write("sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes", "536870912\n");
  system.write("sys/fs/cgroup/memory/docker/1/memory.stat",
               "inactive_file 1\ntotal_inactive_file 268435456\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(available_memory_bytes(system.root()), 768 * kMebi);
}

// A container sees its own group as the root of the tree, under a name from outside.
TEST_F(AvailableMemory, HonorsTheLimitOfAContainer) {
  system.write("proc/self/cgroup", "0::/kubepods/pod7/2a\n");
  system.write("sys/fs/cgroup/memory.max", "1073741824\n");
  system.write("sys/fs/cgroup/memory.current", "0\n");
  EXPECT_EQ(available_memory_bytes(system.root()), 1024 * kMebi);
}

TEST(Machine, ReadsWhatTheSystemShows) {
  const FakeSystem system;
  system.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n");
  system.write("etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some Linux 12\"\n");
  cpu_set_t affinity;
  ASSERT_EQ(sched_getaffinity(0, sizeof(affinity), &affinity), 0);
  int first = 0;
  while (!CPU_ISSET(first, &affinity)) ++first;
  const std::filesystem::path cache =
      "sys/devices/system/cpu/cpu" + std::to_string(first) + "/cache";
  const std::vector<std::vector<std::string>> levels = {{"1", "Data", "48K"},
                                                        {"1", "Instruction", "32K"},
                                                        {"2", "Unified", "2048K"},
                                                        {"3", "Unified", "30M"}};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::filesystem::path index = cache / ("index" + std::to_string(i));
    system.write(index / "level", levels[i][0]);
    system.write(index / "type", levels[i][1]);
    system.write(index / "size", levels[i][2]);
    system.write(index / "shared_cpu_list", "0-3");
  }
  const Machine machine = describe_machine(system.root());
  EXPECT_EQ(machine.cpu_model, "Some CPU @ 3 GHz");
  EXPECT_EQ(machine.l1d_bytes, 48 * 1024);
  EXPECT_EQ(machine.l2_bytes, 2 * kMebi);
  EXPECT_EQ(machine.l3_bytes, 30 * kMebi);
  EXPECT_EQ(machine.l3_count, 1);
  EXPECT_EQ(machine.os.substr(0, 15), "Some Linux 12, ");
  EXPECT_EQ(machine.logical_cores, CPU_COUNT(&affinity));
}

// Threads of one core are one CPU of the list, the first one.
TEST(Machine, ListsOneCpuACore) {
  cpu_set_t affinity;
  ASSERT_EQ(sched_getaffinity(0, sizeof(affinity), &affinity), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &affinity)) cpus.push_back(cpu);
  }
  const auto with_core_of = [&](auto core) {
    const FakeSystem system;
    for (const int cpu : cpus) {
      const std::string topology = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
      std::filesystem::create_directories(system.root() / topology);
      system.write(topology + "/core_id", std::to_string(core(cpu)) + "\n");
      system.write(topology + "/physical_package_id", "0\n");
    }
    return one_cpu_per_core(system.root());
  };
  EXPECT_EQ(with_core_of([](int cpu) { return cpu; }), cpus);
  EXPECT_EQ(with_core_of([](int) { return 7; }), std::vector<int>{cpus.front()});
  const FakeSystem limited;
  limited.write("proc/self/cgroup", "0::/job\n");
  limited.write("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(one_cpu_per_core(limited.root()), std::vector<int>{cpus.front()});
}

TEST(Machine, HonorsACpuQuota) {
  const FakeSystem system;
  system.write("proc/self/cgroup", "0::/job\n");
  system.write("sys/fs/cgroup/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(describe_machine(system.root()).logical_cores, 1);
  EXPECT_EQ(describe_machine(system.root()).physical_cores, 1);

  const FakeSystem version1;
  version1.write("proc/self/cgroup", "2:cpu,cpuacct:/\n");
  version1.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  version1.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(describe_machine(version1.root()).logical_cores, 1);
}

TEST(Machine, SaysUnknownOfAnEmptySystem) {
  const FakeSystem system;
  const Machine machine = describe_machine(system.root());
  EXPECT_EQ(machine.cpu_model, "unknown CPU");
  EXPECT_EQ(machine.l3_bytes, 0);
  EXPECT_EQ(machine.memory_bytes, 0);
  EXPECT_GE(machine.logical_cores, 1);
}

TEST(Machine, DescribesThisOne) {
  const Machine machine = describe_machine();
  EXPECT_GE(machine.logical_cores, machine.physical_cores);
  EXPECT_GE(machine.physical_cores, 1);
  EXPECT_GT(machine.memory_bytes, machine.available_bytes);
  EXPECT_GT(machine.available_bytes, 0);
  EXPECT_LE(machine.memory_bytes, std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE));
  EXPECT_NE(machine_summary(machine).find(machine.cpu_model), std::string::npos);
}

TEST(Machine, PeakGrowsWithTouchedMemory) {
  const std::int64_t before = peak_resident_bytes();
  const std::vector<char> touched(static_cast<std::size_t>(2 * before), 'x');
  EXPECT_GE(peak_resident_bytes(), 2 * before) << touched[touched.size() / 2];
}

TEST(Bandwidth, IsThatOfAMemory) {
  const Bandwidth bandwidth = measure_bandwidth(omp_get_num_procs());
  // From a single slow core to the largest host: a wrong unit or an optimized-away loop is outside.
  EXPECT_GT(bandwidth.copy, 1e8);
  EXPECT_LT(bandwidth.copy, 2e13);
  EXPECT_GT(bandwidth.update, 1e8);
  EXPECT_LT(bandwidth.update, 2e13);
}

TEST(SharedCores, AreWhereMoreWouldRunThanThereAreCores) {
  const FakeSystem system;
  const auto shares = [&](const std::string& load) {
    system.write("proc/loadavg", load);
    return would_share_cores((system.root() / "proc/loadavg").c_str());
  };
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  EXPECT_TRUE(shares(fmt::format("3.10 2.20 1.30 {}/345 999\n", cores + 1)));
  // Nothing but this process, or nothing for long.
  EXPECT_FALSE(shares("3.10 2.20 1.30 1/345 999\n"));
  EXPECT_FALSE(shares(fmt::format("0.10 2.20 1.30 {}/345 999\n", cores + 1)));
  EXPECT_FALSE(shares(""));
  EXPECT_FALSE(would_share_cores("/proc/no/such/file"));
}

TEST(SharedCores, LeaveThreadsAsTheyAreWhereTheUserSaysHowTheyWait) {
  char name[] = "not started";
  char* argv[] = {name, nullptr};
  setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_EQ(choose_waiting(argv), Waiting::as_always);
  EXPECT_EQ(chosen_waiting(), Waiting::as_always);
  unsetenv("OMP_WAIT_POLICY");
}

/// A directory for the user's cache that is the test's own.
class KnownRates : public ::testing::Test {
 protected:
  KnownRates() { setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1); }
  ~KnownRates() override { unsetenv("XDG_CACHE_HOME"); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(KnownRates, AreMeasuredOnce) {
  const MeasuredRates first = known_rates(1);
  EXPECT_GT(first.memory.copy, 1e8);
  ASSERT_TRUE(std::filesystem::exists(rates_file()));
  const MeasuredRates second = known_rates(1);
  EXPECT_EQ(second.memory.copy, first.memory.copy);
  EXPECT_EQ(second.memory.update, first.memory.update);
  EXPECT_EQ(second.memory.read, first.memory.read);
  EXPECT_EQ(second.fma.in_double, first.fma.in_double);
  EXPECT_EQ(second.fma.in_single, first.fma.in_single);
  ASSERT_EQ(second.caches.size(), first.caches.size());
  for (std::size_t i = 0; i < first.caches.size(); ++i) {
    EXPECT_EQ(second.caches[i].bytes_per_second, first.caches[i].bytes_per_second);
  }
  const MeasuredRates anew = known_rates(1, Measure::anew);
  // A single one may come out the same, by the steps of a clock.
  EXPECT_TRUE(anew.memory.copy != first.memory.copy || anew.memory.update != first.memory.update ||
              anew.memory.read != first.memory.read || anew.fma.in_double != first.fma.in_double);
  EXPECT_EQ(known_rates(1).fma.in_double, anew.fma.in_double);
}

TEST_F(KnownRates, AreMeasuredWhereTheFileIsOfNoUse) {
  known_rates(1);
  for (const char* text : {"{", "{\"copy\": 1}"}) {
    std::ofstream(rates_file()) << text;
    EXPECT_GT(known_rates(1).memory.copy, 1e8) << text;
  }
  // Figures that cannot be some, and too few.
  std::ifstream in(rates_file());
  nlohmann::json figures = nlohmann::json::parse(in);
  ASSERT_GE(figures.size(), 2U);
  for (auto& [key, values] : figures.items()) values[0] = -1.0;
  std::ofstream(rates_file()) << figures;
  EXPECT_GT(known_rates(1).memory.copy, 1e8);
  EXPECT_GT(known_rates(1).fma.in_double, 1e8);
  for (auto& [key, values] : figures.items()) values = {1.0};
  std::ofstream(rates_file()) << figures;
  EXPECT_GT(known_rates(1).memory.copy, 1e8);
  EXPECT_GT(known_rates(1).fma.in_double, 1e8);
}

// A file from before peaks and caches were measured.
TEST_F(KnownRates, TakeWhatAnOlderFileHas) {
  known_rates(1);
  std::ifstream in(rates_file());
  const nlohmann::json known = nlohmann::json::parse(in);
  nlohmann::json old;
  for (const auto& [key, values] : known.items()) {
    if (key.starts_with("copy, update, read: ")) old[key] = {3e9, 2e9, 1e9};
  }
  ASSERT_EQ(old.size(), 1U);
  std::ofstream(rates_file()) << old;
  const MeasuredRates rates = known_rates(1);
  EXPECT_EQ(rates.memory.copy, 3e9);
  EXPECT_EQ(rates.memory.update, 2e9);
  EXPECT_EQ(rates.memory.read, 1e9);
  EXPECT_GT(rates.fma.in_double, 1e8);
  EXPECT_EQ(known_rates(1).fma.in_double, rates.fma.in_double);
  EXPECT_EQ(known_rates(1).memory.copy, 3e9);
}

TEST_F(KnownRates, AreMeasuredWhereNothingCanBeWritten) {
  setenv("XDG_CACHE_HOME", "/proc/no/such/place", 1);
  EXPECT_GT(known_rates(1).memory.copy, 1e8);
  EXPECT_FALSE(std::filesystem::exists(rates_file()));
}

TEST(FlopRates, AreThoseOfACpu) {
  const int threads = omp_get_num_procs();
  const FlopRates rates = measure_flop_rates(threads);
  // At most four pipes of multiply-adds at 8 GHz.
  const double most = 4 * 2 * 8e9 * threads;
  EXPECT_GT(rates.in_double, 0.5e9 * threads);
  EXPECT_LT(rates.in_double, most * kLanes<double>);
  EXPECT_GT(rates.in_single, 0.5e9 * threads);
  EXPECT_LT(rates.in_single, most * kLanes<float>);
}

TEST(Caches, AreThoseThatThreadsReach) {
  constexpr std::int64_t kKibi = 1 << 10;
  Machine machine;
  machine.physical_cores = 8;
  machine.l1d_bytes = 32 * kKibi;
  machine.l2_bytes = 1024 * kKibi;
  machine.l3_bytes = 16 * 1024 * kKibi;
  machine.l3_count = 2;
  const auto bytes = [&](int threads) {
    std::vector<double> sizes;
    for (const CacheRate& level : cache_levels(machine, threads)) {
      EXPECT_EQ(level.name, fmt::format("L{}", sizes.size() + 1));
      sizes.push_back(level.bytes / kKibi);
    }
    return sizes;
  };
  EXPECT_EQ(bytes(1), (std::vector<double>{32, 1024, 16 * 1024}));
  EXPECT_EQ(bytes(4), (std::vector<double>{128, 4096, 32 * 1024}));
  // More threads than cores have no more cache.
  EXPECT_EQ(bytes(16), (std::vector<double>{256, 8192, 32 * 1024}));
  // That of a virtual machine's host.
  machine.l3_bytes = 480 * 1024 * kKibi;
  EXPECT_EQ(bytes(2), (std::vector<double>{64, 2048, 64 * 1024}));
  machine.l3_bytes = 0;
  EXPECT_EQ(bytes(2), (std::vector<double>{64, 2048}));
  EXPECT_TRUE(cache_levels(Machine(), 2).empty());
}

TEST(Caches, AreMeasuredLevelByLevel) {
  const std::vector<CacheRate> levels = cache_levels(describe_machine(), 1);
  const std::vector<double> rates = measure_caches(levels, 1);
  ASSERT_EQ(rates.size(), levels.size());
  for (const double rate : rates) {
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e13);
  }
  EXPECT_TRUE(measure_caches({}, 1).empty());
}

TEST(CpuCheck, FindsEverythingOnTheCpuThatRunsTheTests) {
  EXPECT_STREQ(missing_cpu_features(), "");
}

}  // namespace
}  // namespace tessera
