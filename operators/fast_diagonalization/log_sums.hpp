// LogSums are sums of a form's logarithms over sampled cells, for the nearest separable operator.
#pragma once

#include <array>
#include <vector>

#include "operators/form/bilinear_form.hpp"

namespace tessera {

/// Sums over the sampled cells of log a_d, a_d = k |J| (J^-1 J^-T)_dd, at each place along axis e
/// of the whole mesh, and how many cells these are.
struct LogSums {
  /// Of the cells' volumes in box coordinates, and of c |J| times these, c the reaction.
  double box_volume = 0.0;
  double reaction = 0.0;
  std::array<std::array<std::vector<double>, 3>, 3> sums;  // [d][e][cell along e]
  std::array<std::vector<double>, 3> counts;               // [e][cell along e]

  /// All sums are 0.
  /// @param cells of the whole mesh
  LogSums(int dimension, const IndexTriple& cells);

  void add(const LogSums& other);
  /// Of all ranks, in their order. They call it together.
  void add_others(const Communicator& ranks);
};

/// The sums of a form over at most about 2^20 cells, of all ranks together; the same bits for any
/// number of threads. Where the coefficient has no value in the middle of a cell, it is taken
/// beside it; where the reaction has none, it is left out.
/// @throws BadFieldValue if the coefficient is not positive and finite, InvertedCell
LogSums sample_logs(const BilinearForm& form);

}  // namespace tessera
