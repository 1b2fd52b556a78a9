// NaturalUnits make a problem's coefficient and box of order 1.
#pragma once

#include <array>

#include "cases/problem/poisson_problem.hpp"

namespace tessera {

/// Units in which a problem's coefficient is of order 1, in a frame in which its box is of order 1.
/// The solution u keeps its unit, and the units of all else follow. They are powers of 4: whatever
/// units a problem is given in, in its natural units it is solved by the same steps, up to rounding
/// below 1e-308, and with numbers that single precision can hold.
struct NaturalUnits {
  int dimension = 3;
  Frame frame = {};
  /// The unit of the coefficient and, if it is a product, of its factors along the axes.
  double coefficient = 1.0;
  std::array<double, 3> coefficient_factors = {1.0, 1.0, 1.0};

  /// The unit of the source, of the reaction and, since time keeps its unit, of the capacity.
  double source() const { return coefficient / (frame.length * frame.length); }
  /// The unit of k du/dn and of alpha.
  double flux() const { return coefficient / frame.length; }
  /// The unit of integrals of the source and of fluxes, of entries of the matrix and of b, and of
  /// energies.
  double load() const { return dimension == 3 ? coefficient * frame.length : coefficient; }
  double volume() const { return frame.volume(dimension); }
};

/// The units of a problem. The coefficient is evaluated at quadrature points of up to 8 cells per
/// axis, and its unit is the power of 4 next to the geometric mean of the least and the largest
/// magnitude there. Where ranks have parts of the problem, its sampled cells are those of all
/// parts.
/// @param discretization the space, in the frame that the units shall have
/// @param u a typical solution as a function of physical positions, where the coefficient depends
///        on u
NaturalUnits natural_units(const PoissonProblem& problem, const Discretization& discretization,
                           const ScalarField& u = constant_field(0.0));

/// The problem in these units; its fields are functions of positions in the frame of the units.
PoissonProblem in_units(const PoissonProblem& problem, const NaturalUnits& units);

}  // namespace tessera
