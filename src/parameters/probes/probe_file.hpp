// This function reads points from the text of a CSV file.
#pragma once

#include <string_view>

#include "src/parameters/messages/findings.hpp"
#include "src/parameters/probes/probe_points.hpp"

namespace tessera {

/// Adds the points of the text of the file probes.file: as many numbers a line as the mesh has
/// axes, or, below a header, what the columns x, y and, in 3D, z have. Blank lines and those that
/// begin with # are skipped. Reports each line that is wrong, but the first few only.
void read_probe_points(std::string_view text, int dimension, ProbePoints& probes,
                       Findings& findings);

}  // namespace tessera
