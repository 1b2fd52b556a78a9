// The rows of the table of studies, each in a file of its own.
#pragma once

#include "src/studies/studies.hpp"

namespace tessera {

/// What one protected addition costs, alone and when threads meet.
StudyInfo synchronization_study();

/// Which way of protecting shared entries assembles fastest.
StudyInfo assembly_study();

/// The same where every task touches everything: particles that all attract each other.
StudyInfo n_body_study();

/// Where a GPU starts the blocks of kernels.
StudyInfo block_scheduling_study();

/// In which order a GPU updates a vector in place, and what that does to a relaxation.
StudyInfo update_order_study();

/// By when a kernel is surely done.
StudyInfo finishing_time_study();

/// When and at which level GPU threads should collect what they append or send.
StudyInfo aggregation_study();

}  // namespace tessera
