// The text that makes gnuplot draw a plot.
#pragma once

#include <string>

#include "postprocess/report/plots/plot.hpp"

namespace tessera::report {

/// Names beside lines and bars, in a picture 440 units wide; or, for a screen that is as narrow as
/// a phone's, below the plot and above the bars, in one of 340.
enum class PlotShape { wide, narrow };

/// Commands that draw the plot as one SVG, whatever was drawn before, as high as its labels need.
/// Empty if there is nothing to be shown.
/// @param number tells the plots of a script apart
std::string gnuplot_script(const Plot& plot, int number, PlotShape shape);

/// Lines of at most `width` characters, cut between words where there are any.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace tessera::report
