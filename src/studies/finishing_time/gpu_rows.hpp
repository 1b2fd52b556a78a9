// What is measured on the GPU beside its bounds.
#pragma once

#include "src/studies/study_record.hpp"

namespace tessera {

/// The rows of programs, of waiting blocks and of operators' kernels on the GPU in use; builds
/// without CUDA have no such functions. @throws DeviceError, Interrupted
void measure_programs(StudyRecord& record);
void measure_waiting_blocks(StudyRecord& record);
void measure_kernels(StudyRecord& record);

}  // namespace tessera
