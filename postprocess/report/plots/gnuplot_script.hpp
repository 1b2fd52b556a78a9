// The text that makes gnuplot draw a plot.
#pragma once

#include <string>

#include "postprocess/report/plots/plot.hpp"

namespace tessera::report {

/// Commands that draw the plot as one SVG, whatever was drawn before. The picture is 440 units
/// wide; as many high as its labels need. Empty if there is nothing to be shown.
/// @param number tells the plots of a script apart
std::string gnuplot_script(const Plot& plot, int number);

/// Lines of at most `width` characters, cut between words where there are any.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace tessera::report
