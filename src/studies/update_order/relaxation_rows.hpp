// The part of the study update-order that relaxes without barriers, on CPU and GPU.
#pragma once

#include <string>
#include <vector>

#include "src/studies/study_record.hpp"

namespace tessera {

[[nodiscard]] std::vector<std::string> relaxation_variants();

/// Relaxes in all orders where the study runs, and adds the rows. @throws DeviceError
void measure_relaxation(StudyRecord& record);

}  // namespace tessera
