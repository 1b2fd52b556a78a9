// The part of the study synchronization that runs on a GPU.
#pragma once

#include <string>
#include <vector>

#include "src/studies/study_record.hpp"

namespace tessera {

/// The variants that only a GPU has.
std::vector<std::string> gpu_addition_variants();

/// Adds ones to tables that threads share, in all ways, and adds the rows. Builds without CUDA
/// must not call it. @throws DeviceError
void measure_gpu_additions(StudyRecord& record);

}  // namespace tessera
