// The rows of the table of studies, each in a file of its own.
#pragma once

#include "src/studies/studies.hpp"

namespace tessera {

/// What one protected addition costs, alone and when threads meet.
StudyInfo synchronization_study();

/// The same where every task touches everything: particles that all attract each other.
StudyInfo n_body_study();

}  // namespace tessera
