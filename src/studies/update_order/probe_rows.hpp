// The part of the study update-order that needs a GPU.
#pragma once

#include <string>
#include <vector>

#include "src/studies/study_record.hpp"

namespace tessera {

[[nodiscard]] std::vector<std::string> probe_variants();

/// Runs the kernels of the order probe, looks at the order in which blocks start, and adds the
/// rows. Builds without CUDA must not call it. @throws DeviceError
void measure_order_probes(StudyRecord& record);

}  // namespace tessera
