// The lines of probes.csv of a run in time.
#pragma once

#include <span>
#include <string>

#include "mesh/scalar_field.hpp"
#include "postprocess/probes/probes.hpp"

namespace tessera {

/// Whether there is an exact solution.
enum class ExactColumns { no, yes };

/// What precedes the first time: comments with the program, such as "Tessera 0.1.0", and the place
/// of each probe, `# u1: x, y, z`, and the names of the columns: t, u1, u2, ... and, if there is an
/// exact solution, exact1, exact2, ...
std::string probe_series_header(const std::string& program, std::span<const Point> points,
                                ExactColumns exact);

/// The line of a time; all digits. @param values with or without exact ones, as the header has it;
/// exact ones that are not known are left blank
std::string probe_series_line(double t, const ProbeValues& values, ExactColumns exact);

}  // namespace tessera
