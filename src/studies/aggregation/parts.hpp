// The parts of the study aggregation, each in a file of its own. Builds without CUDA have none.
#pragma once

#include "src/studies/study_record.hpp"

namespace tessera {

/// Messages that threads append to one array.
void measure_appends(StudyRecord& record);
/// Increments at random places of a table (GUPS).
void measure_updates(StudyRecord& record);
/// Updates that go to destinations in buffers.
void measure_routing(StudyRecord& record);
/// A queue from GPU blocks to host threads.
void measure_host_queue(StudyRecord& record);
/// Appends of threads of which most have nothing to append.
void measure_divergence(StudyRecord& record);
/// A function at many points of a mesh, in given order and sorted by bricks.
void measure_probes(StudyRecord& record);

}  // namespace tessera
