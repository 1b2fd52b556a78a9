// Gnuplot draws plots as SVG.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "postprocess/report/plots/plot.hpp"

namespace tessera::report {

/// gnuplot is not installed, or failed; says so in one line.
class PlotError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A part of a page, in the page's colors, for wide screens and paper or for narrow screens; or a
/// file of its own.
enum class SvgUse { in_page, in_narrow_page, file };

/// One SVG element, or SVG file, for each plot; empty for a plot that has nothing to show. All are
/// drawn by one process. @throws PlotError
std::vector<std::string> draw(const std::vector<Plot>& plots, SvgUse use);

/// @throws PlotError if gnuplot cannot be started
void require_gnuplot();

/// The shapes of points, which each page that has SVG elements must hold once.
std::string point_shapes();

}  // namespace tessera::report
