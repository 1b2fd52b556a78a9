// The picture of a solution, drawn without a display.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mesh/discretization.hpp"

namespace tessera {

/// What a picture says beside what it shows.
struct PictureText {
  std::string title;
  /// What is wrong with the solution, such as "not converged: ..."; empty if nothing is.
  std::string status;
  /// "Tessera VERSION".
  std::string program;
};

/// A picture, and what is missing in it.
struct SolutionPicture {
  /// The content of a PNG file of 1200 x 900 pixels.
  std::string png;
  /// A sentence, empty if nothing is missing.
  std::string complaint;
};

/// Draws a Q_p function: in 2D with iso-lines, in 3D cut open as view.py does it. The time depends
/// on the number of pixels rather than of cells: the geometry is sampled, the function evaluated
/// where a pixel shows it. Values that are not finite are grey.
/// @param values of the nodes, [lattice.size()]
/// @param range the least and the greatest value, where they are known; many values are then not
/// gone through
/// @throws std::bad_alloc, std::runtime_error of a library
SolutionPicture draw_solution(const Discretization& discretization, std::span<const double> values,
                              std::pair<double, double> range, const PictureText& text);

/// What it takes of memory at most, with so many threads.
Index picture_bytes(int dimension, bool is_mapped, int threads);

}  // namespace tessera
