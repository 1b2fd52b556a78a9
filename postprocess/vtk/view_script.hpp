// This function writes the script that opens a solution in ParaView.
#pragma once

#include <string>

namespace tessera {

/// What view.py shows.
struct ViewOptions {
  int dimension = 3;
  int degree = 1;
  std::string field = "solution";
  std::string title;
  std::string status;  // shown in the picture if not empty, such as "not converged"
  std::string grid_file = "solution.vtu";  // beside the script
};

/// Text of a Python script for ParaView (5.10 or later): `paraview --script=view.py`, `pvpython
/// view.py` (a window; view.png without a display) or `pvpython view.py picture.png`, `pvbatch
/// view.py`. Curved high-order cells are subdivided as the degree asks for; 2D results are warped
/// by the field, 3D ones cut open.
std::string view_script(const ViewOptions& options);

}  // namespace tessera
