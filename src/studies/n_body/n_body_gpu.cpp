// This file measures forces between particles on a GPU.
#include "src/studies/n_body/n_body_gpu.hpp"

#include <fmt/format.h>

#include <cmath>

#include "solvers/configuration.hpp"
#include "solvers/memory/device.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

// Counts that are not exact, forces that are not those of the reference.
std::string what_is_wrong(DeviceMotion& motion, std::span<const PlaneVector> reference) {
  motion.put_back();
  motion.add_up(PairForce::counting);
  const std::string fault = counting_fault(motion.forces());
  if (!fault.empty()) return fault;
  motion.add_up(PairForce::gravity);
  return force_fault(motion.forces(), reference);
}

Summary time_steps(DeviceMotion& motion, const Pace& pace, int untimed, int timed) {
  DeviceStopwatch stopwatch;
  return repeat_runs(pace, [&] {
    motion.put_back();
    motion.add_up(PairForce::gravity);
    motion.step(untimed);
    stopwatch.start();
    motion.step(timed);
    return stopwatch.stop();
  });
}

}  // namespace

const std::vector<NamedDeviceForceSums>& device_force_sums() {
  static const std::vector<NamedDeviceForceSums> all = {{DeviceForceSums::twice, "twice"},
                                                        {DeviceForceSums::atomic, "atomic"},
                                                        {DeviceForceSums::private_sums, "private"}};
  return all;
}

void measure_gpu_forces(StudyRecord& record, const Particles& start, int steps, int timed_steps,
                        std::span<const PlaneVector> reference) {
  if constexpr (kHasCuda) {
    const auto n = static_cast<double>(start.size());
    const std::vector<PlaneVector> at_rest(start.size());
    const double energy_at_start = energy(start, at_rest);
    for (const NamedDeviceForceSums& way : device_force_sums()) {
      if (!record.options().selects(way.name)) continue;
      record.show_status(fmt::format("{}, {} particles", way.name, start.size()));
      DeviceMotion motion(start, way.sums);
      StudyRow row{.variant = way.name, .parameters = {std::to_string(start.size())}};
      row.wrong = what_is_wrong(motion, reference);
      if (!row.wrong.empty()) row.correctness = Correctness::wrong;
      row.seconds = time_steps(motion, record.options().pace, steps - timed_steps, timed_steps);
      row.shown_per_second = 1e3;
      row.metrics.resize(record.table().layout().metrics.size());
      row.metrics[0] = record.table().times_faster("serial", row);
      row.metrics[2] = 1e-6 * 0.5 * n * (n - 1.0) * timed_steps / row.seconds.median;
      row.metrics.back() =
          std::abs(energy(motion.particles(), motion.velocities()) - energy_at_start) /
          std::abs(energy_at_start);
      record.add(std::move(row));
    }
  }
}

}  // namespace tessera
