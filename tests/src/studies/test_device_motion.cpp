// These tests sum forces between particles on a GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "src/studies/n_body/n_body_forces.hpp"
#include "src/studies/n_body/n_body_gpu.hpp"
#include "src/studies/thread_team.hpp"
#include "tests/device_test.hpp"
#include "tests/src/studies/made_up.hpp"

namespace tessera::testing {
namespace {

std::vector<PlaneVector> serial_forces(const Particles& particles) {
  ForceSummation serial(ForceSums::serial, particles.size(), 1, std::vector<TransactionState>(1));
  run_team(1, [&](int thread) { serial.add_up(thread, particles, PairForce::gravity); });
  return {serial.forces().begin(), serial.forces().end()};
}

// Numbers that tiles and thread blocks do not divide.
TEST(DeviceMotions, CountExactlyAndAgreeWithSerialForcesOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  for (const int n : {1, 2, 31, 33, 256, 259, 1024, 9001}) {
    const Particles particles = make_particles(n, 3);
    const std::vector<PlaneVector> reference = serial_forces(particles);
    for (const NamedDeviceForceSums& way : device_force_sums()) {
      DeviceMotion motion(particles, way.sums);
      // The second time without what the first has left.
      for (int time = 0; time < 2; ++time) {
        motion.add_up(PairForce::counting);
        EXPECT_EQ(counting_fault(motion.forces()), "") << way.name << " " << n;
        motion.add_up(PairForce::gravity);
        // One particle alone has no force, and no size to compare with.
        if (n > 1) {
          EXPECT_EQ(force_fault(motion.forces(), reference), "") << way.name << " " << n;
        }
      }
    }
  }
}

TEST(DeviceMotions, KeepTheirEnergyAndGoBackOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  const Particles start = make_particles(100, 1);
  const double at_start = energy(start, std::vector<PlaneVector>(start.size()));
  for (const NamedDeviceForceSums& way : device_force_sums()) {
    DeviceMotion motion(start, way.sums);
    motion.add_up(PairForce::gravity);
    motion.step(40);
    const Particles moved = motion.particles();
    EXPECT_NE(moved.x, start.x);
    EXPECT_NEAR(energy(moved, motion.velocities()), at_start, 1e-6 * std::abs(at_start));
    motion.put_back();
    EXPECT_EQ(motion.particles().x, start.x);
    EXPECT_EQ(motion.velocities().front().x, 0.0);
  }
}

TEST(DeviceMotions, TheStudyMeasuresThemOnTheGpu) {
  TESSERA_REQUIRE_DEVICE();
  const StudyInfo& study = find_study("n-body");
  StudyOptions options = options_of("n-body", {"--particles", "1024", "--steps", "4"});
  options.processor = Processor::gpu;
  StudyRecord record(study, options, "a GPU", Verbosity::quiet);
  study.measure(record);
  EXPECT_EQ(record.wrong_rows(), 0) << record.csv();
  const StudyTable& table = record.table();
  ASSERT_EQ(table.rows().size(), 4U);
  EXPECT_EQ(table.rows().front().processor, Processor::cpu);
  for (const char* variant : {"twice", "atomic", "private"}) {
    const StudyRow& row = table.at(variant, 1, {"1024"});
    EXPECT_GT(table.metric(row, "faster_than_serial"), 0.0) << variant;
    EXPECT_LT(table.metric(row, "energy_drift"), 1e-3) << variant;
  }
  // The claims are about the seven ways of a CPU.
  EXPECT_TRUE(verdict("n-body", "N1", table).starts_with("not measured")) << record.csv();
}

}  // namespace
}  // namespace tessera::testing
