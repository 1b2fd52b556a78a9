// The part of the study n-body that runs on a GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "src/studies/n_body/device_motion.hpp"
#include "src/studies/study_record.hpp"

namespace tessera {

/// The ways of a GPU, with their names in tables.
struct NamedDeviceForceSums {
  DeviceForceSums sums;
  std::string name;
};
[[nodiscard]] const std::vector<NamedDeviceForceSums>& device_force_sums();

/// Moves the particles for so many steps, the last of which are timed, in all ways of the GPU, and
/// adds the rows. Builds without CUDA must not call it.
/// @param reference the forces at the start @throws DeviceError
void measure_gpu_forces(StudyRecord& record, const Particles& start, int steps, int timed_steps,
                        std::span<const PlaneVector> reference);

}  // namespace tessera
