// NaturalUnits make a problem's coefficient and box of order 1.
#pragma once

#include <array>

#include "cases/poisson_problem.hpp"

namespace tessera {

/// Units in which a problem's coefficient is of order 1, in a frame in which its box is: u keeps
/// its own, and the units of all else follow. They are powers of 4, so that a problem in its
/// natural units is solved by the same steps, but for rounding below 1e-308, in whatever units it
/// is given; and those steps are in numbers that single precision has.
struct NaturalUnits {
  int dimension = 3;
  Frame frame = {};
  /// Of the coefficient, and of its factors along the axes where it is a product of those.
  double coefficient = 1.0;
  std::array<double, 3> coefficient_factors = {1.0, 1.0, 1.0};

  double source() const { return coefficient / (frame.length * frame.length); }
  /// Of k du/dn, and of alpha.
  double flux() const { return coefficient / frame.length; }
  /// Of integrals of the source and of fluxes, entries of the matrix and of b, and energies.
  double load() const { return dimension == 3 ? coefficient * frame.length : coefficient; }
  double volume() const { return frame.volume(dimension); }
};

/// Units of the problem; the coefficient is evaluated at quadrature points of up to 8 cells an
/// axis, and its unit is next to the middle, by orders of magnitude, of what it is there.
/// @param discretization in the frame that is to be that of the units
NaturalUnits natural_units(const PoissonProblem& problem, const Discretization& discretization);

/// The problem in these units; its fields are functions of positions in their frame.
PoissonProblem in_units(const PoissonProblem& problem, const NaturalUnits& units);

}  // namespace tessera
