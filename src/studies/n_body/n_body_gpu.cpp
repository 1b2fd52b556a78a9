// This file measures forces between particles on a GPU.
#include "src/studies/n_body/n_body_gpu.hpp"

#include <fmt/format.h>

#include <cmath>

#include "solvers/configuration.hpp"
#include "solvers/memory/device.hpp"
#include "src/studies/repeated_runs.hpp"

namespace tessera {
namespace {

/// One way to sum forces of particles.
class GpuForces {
 public:
  GpuForces(const Particles& start, DeviceForceSums sums) : motion_(start, sums) {}

  /// Counts that are not exact, forces that are not those of the reference.
  std::string what_is_wrong(std::span<const PlaneVector> reference) {
    motion_.put_back();
    motion_.add_up(PairForce::counting);
    std::string fault = counting_fault(motion_.forces());
    if (!fault.empty()) return fault;
    motion_.add_up(PairForce::gravity);
    return force_fault(motion_.forces(), reference);
  }

  Summary time_steps(const Pace& pace, int untimed, int timed) {
    return repeat_runs(pace, [&] {
      motion_.put_back();
      motion_.add_up(PairForce::gravity);
      motion_.step(untimed);
      stopwatch_.start();
      motion_.step(timed);
      return stopwatch_.stop();
    });
  }

  double energy() const { return tessera::energy(motion_.particles(), motion_.velocities()); }

 private:
  DeviceMotion motion_;
  DeviceStopwatch stopwatch_;
};

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
      GpuForces forces(start, way.sums);
      StudyRow row{.variant = way.name, .parameters = {std::to_string(start.size())}};
      row.wrong = forces.what_is_wrong(reference);
      if (!row.wrong.empty()) row.correctness = Correctness::wrong;
      row.seconds = forces.time_steps(record.options().pace, steps - timed_steps, timed_steps);
      row.shown_per_second = 1e3;
      row.metrics.resize(record.table().layout().metrics.size());
      row.metrics[0] = record.table().times_faster("serial", row);
      row.metrics[2] = 1e-6 * 0.5 * n * (n - 1.0) * timed_steps / row.seconds.median;
      row.metrics.back() = std::abs(forces.energy() - energy_at_start) / std::abs(energy_at_start);
      record.add(std::move(row));
    }
  }
}

}  // namespace tessera
