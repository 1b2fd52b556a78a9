// These tests read energy counters of a machine that is made up.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "postprocess/timing/energy_meter.hpp"
#include "tests/postprocess/temporary_directory.hpp"

namespace tessera {
namespace {

constexpr char kNoLibrary[] = "libtessera_has_no_such_file.so.1";

// A directory that stands for /sys/class/powercap, and a clock.
class Energy : public ::testing::Test {
 protected:
  void write(const std::string& zone, const std::string& file, const std::string& content) const {
    std::filesystem::create_directories(powercap() / zone);
    std::ofstream(powercap() / zone / file) << content << "\n";
  }
  void set_microjoules(const std::string& zone, std::uint64_t value) const {
    write(zone, "energy_uj", std::to_string(value));
  }
  void add_zone(const std::string& zone, const std::string& name, std::uint64_t value) const {
    write(zone, "name", name);
    write(zone, "max_energy_range_uj", "262143328850");
    set_microjoules(zone, value);
  }
  std::filesystem::path powercap() const { return directory_.path() / "powercap"; }
  EnergySources sources(const std::string& bus_id = "") {
    return {bus_id, powercap(), TESSERA_FAKE_NVML, [this] { return now_; }};
  }
  EnergyUse measure(const EnergySources& from) {
    EnergyMeter meter(from);
    now_ += 1.0;
    return meter.stop();
  }

  double now_ = 1000.0;

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(Energy, IsThatOfAllPackagesAndTheirMemory) {
  add_zone("intel-rapl:0", "package-0", 1'000'000);
  add_zone("intel-rapl:0:0", "core", 0);
  add_zone("intel-rapl:0:1", "dram", 5'000'000);
  add_zone("intel-rapl:1", "package-1", 0);
  add_zone("intel-rapl:2", "psys", 0);
  add_zone("intel-rapl-mmio:0", "package-0", 0);
  EnergyMeter meter(sources());
  set_microjoules("intel-rapl:0", 3'000'000);
  set_microjoules("intel-rapl:0:1", 5'500'000);
  set_microjoules("intel-rapl:1", 8'000'000);
  for (const char* other : {"intel-rapl:0:0", "intel-rapl:2", "intel-rapl-mmio:0"}) {
    set_microjoules(other, 100'000'000);
  }
  now_ += 1.0;
  const EnergyUse use = meter.stop();
  ASSERT_TRUE(use.cpu.joules);
  EXPECT_DOUBLE_EQ(*use.cpu.joules, 2.0 + 0.5 + 8.0);
  EXPECT_FALSE(use.gpu);
  EXPECT_EQ(use.joules(), use.cpu.joules);
  EXPECT_EQ(use.text(1e6), "CPU 10.5 J; 10.5 uJ per DoF");
  EXPECT_EQ(use.note(), "CPU: packages and memory");
}

TEST_F(Energy, CountsEveryWrapThatASampleSees) {
  constexpr std::uint64_t kRange = 262'143'328'850;
  add_zone("intel-rapl:0", "package-0", kRange - 4'000'000);
  EnergyMeter meter(sources());
  for (int wrap = 0; wrap < 2; ++wrap) {
    now_ += 100.0;
    set_microjoules("intel-rapl:0", 1'000'000);
    meter.sample();
    now_ += 100.0;
    set_microjoules("intel-rapl:0", kRange - 4'000'000);
    meter.sample();
  }
  set_microjoules("intel-rapl:0", 2'000'000);
  now_ += 1.0;
  const EnergyUse use = meter.stop();
  ASSERT_TRUE(use.cpu.joules) << use.note();
  EXPECT_NEAR(*use.cpu.joules, 2.0 * kRange * 1e-6 + 6.0, 1e-6);
  EXPECT_EQ(use.note(), "CPU: packages");
}

TEST_F(Energy, IsNotMeasuredWhereAWrapMayBeLost) {
  add_zone("intel-rapl:0", "package-0", 0);
  EnergyMeter meter(sources());
  now_ += 300.0;
  const EnergyUse use = meter.stop();
  EXPECT_FALSE(use.cpu.joules);
  EXPECT_NE(use.note().find("may have wrapped unseen"), std::string::npos) << use.note();
}

TEST_F(Energy, IsNotMeasuredWithoutCounters) {
  const std::string reason = "no energy counters in " + powercap().string();
  const EnergyUse use = measure(sources());
  EXPECT_FALSE(use.cpu.joules);
  EXPECT_FALSE(use.joules());
  EXPECT_EQ(use.text(1.0), "not measured (" + reason + ")");
  add_zone("intel-rapl:0:0", "core", 0);
  EXPECT_EQ(measure(sources()).note(), "CPU: not measured, " + reason);
}

// Linux lets root alone read energy_uj; a directory is no more readable for root.
TEST_F(Energy, IsNotMeasuredWhereACounterCannotBeRead) {
  add_zone("intel-rapl:0", "package-0", 0);
  EnergyMeter meter(sources());
  const std::filesystem::path file = powercap() / "intel-rapl:0/energy_uj";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  now_ += 1.0;
  const std::string note = "CPU: not measured, " + file.string() + " cannot be read";
  EXPECT_EQ(meter.stop().note(), note);
  const EnergyUse use = measure(sources());
  EXPECT_FALSE(use.cpu.joules);
  EXPECT_EQ(use.note(), note);
}

TEST_F(Energy, OfAGpuIsWhatNvmlCounts) {
  const EnergyUse use = measure(sources("0000:3b:00.0"));
  ASSERT_TRUE(use.gpu && use.gpu->joules) << use.note();
  EXPECT_DOUBLE_EQ(*use.gpu->joules, 7.5);
  EXPECT_EQ(use.text(1e6), "GPU 7.50 J, CPU not measured; 7.50 uJ per DoF");
  add_zone("intel-rapl:0", "package-0", 0);
  EXPECT_EQ(measure(sources("0000:3b:00.0")).text(1.0), "GPU 7.50 J, CPU 0 J; 7.50 J per DoF");
}

TEST_F(Energy, OfAGpuIsTheSameWhereNvmlWasStartedBefore) {
  start_gpu_energy(TESSERA_FAKE_NVML);
  start_gpu_energy(kNoLibrary);
  for (int times = 0; times < 2; ++times) {
    const EnergyUse use = measure(sources("0000:3b:00.0"));
    ASSERT_TRUE(use.gpu && use.gpu->joules) << use.note();
    EXPECT_DOUBLE_EQ(*use.gpu->joules, 7.5);
  }
}

TEST_F(Energy, OfAGpuIsNotMeasuredWithoutNvmlOrTheGpu) {
  EnergySources from = sources("0000:3b:00.0");
  from.nvml = kNoLibrary;
  EnergyUse use = measure(from);
  ASSERT_TRUE(use.gpu);
  EXPECT_FALSE(use.gpu->joules);
  EXPECT_FALSE(use.joules());
  EXPECT_EQ(use.gpu->note, std::string("no NVML (") + kNoLibrary + ")");
  use = measure(sources("0000:3b:01.0"));
  EXPECT_FALSE(use.gpu->joules);
  EXPECT_EQ(use.gpu->note, "NVML: Not Found");
}

TEST_F(Energy, OfLessThanAStepIsNotMeasured) {
  add_zone("intel-rapl:0", "package-0", 0);
  for (const double seconds : {0.005, 0.05, 0.5}) {
    EnergyMeter meter(sources("0000:3b:00.0"));
    now_ += seconds;
    const EnergyUse use = meter.stop();
    EXPECT_EQ(use.cpu.joules.has_value(), seconds > kCpuEnergyStep);
    EXPECT_EQ(use.gpu->joules.has_value(), seconds > kGpuEnergyStep);
    const bool is_short = use.gpu->note == "shorter than the counter's step";
    EXPECT_EQ(is_short, seconds < kGpuEnergyStep);
  }
}

}  // namespace
}  // namespace tessera
