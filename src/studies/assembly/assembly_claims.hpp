// These are the claims of the paper about assembling.
#pragma once

#include <string>
#include <vector>

#include "mesh/index.hpp"
#include "src/studies/studies.hpp"

namespace tessera {

/// Parameters and metrics of the rows of the study assembly.
[[nodiscard]] StudyLayout assembly_layout();

/// The parameters of a row, as assembly_layout() has them.
[[nodiscard]] std::vector<std::string> assembly_parameters(const std::string& target,
                                                           int operations, Index triangles,
                                                           const std::string& numbering);

/// Claims A1 to A11, on rows of the mesh without refinement whose points are numbered randomly.
[[nodiscard]] std::vector<Claim> assembly_claims();

}  // namespace tessera
