// This function writes the script that opens a solution in ParaView.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tessera {

/// What view.py shows.
struct ViewOptions {
  int dimension = 3;
  int degree = 1;
  std::string field = "solution";
  std::string title;
  std::string status;  // shown in the picture if not empty, such as "not converged"
  /// Beside the script: a .vtu file, a .pvtu file or a collection.
  std::string grid_file = "solution.vtu";
  /// The least and the greatest value over all times, if grid_file is a collection,
  /// "solution.pvd"; the first greater than the second if nothing is finite.
  std::optional<std::pair<double, double>> series = std::nullopt;
};

/// Text of a Python script for ParaView (5.10 or later): `paraview --script=view.py`, `pvpython
/// view.py` (a window; view.png without a display) or `pvpython view.py picture.png`, `pvbatch
/// view.py`. Curved high-order cells are subdivided as the degree asks for; 2D results are warped
/// by the field, 3D ones cut open. A series has one range of colors for all times, plays them, and
/// shows the last one first.
std::string view_script(const ViewOptions& options);

}  // namespace tessera
