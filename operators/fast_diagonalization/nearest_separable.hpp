// A NearestSeparable is the sum of Kronecker products nearest to a form's operator.
#pragma once

#include <array>

#include "operators/form/bilinear_form.hpp"
#include "operators/kronecker/factors/axis_factors.hpp"

namespace tessera {

/// Whether a separable operator is the form's own or only near to it.
enum class Exactness { exact, approximate };

/// B = K x M x M + M x K x M + M x M x K + r M x M x M, the sum of Kronecker products nearest to a
/// form's A; in 2D B = K x M + M x K + r M x M.
struct NearestSeparable {
  int dimension = 3;
  std::array<AxisFactors, 3> axes;
  Exactness exactness = Exactness::exact;
  double reaction = 0.0;  // r
};

/// Exact where the mesh is axis-aligned, the coefficient a product of functions of one coordinate
/// each, or a number if there is a reaction, which then is one, too, and alpha and k are constant
/// on every Robin face.
///
/// Else with a_d = k |J| (J^-1 J^-T)_dd, J = dx/dX for box coordinates X, the coefficient that the
/// derivative along axis d has, B approximates
///   a_d(X) ~ f_d(X_d) prod over e != d of m_e(X_e)
/// by least squares in log a_d, all d together: f_d and m_e, constant in each cell, weigh K_d and
/// M_e. Logarithms, because the iterations of CG follow the ratio of A to B: a jump counts the same
/// from either side, and layers across one axis are met exactly whatever their contrast. k and J
/// are taken at the centers of at most about 2^20 cells. A Robin face adds the integral of alpha
/// divided by that of prod m_e over the face to the end of K_d, and r is the integral of the
/// reaction, by the same centers, divided by that of prod m_e.
///
/// The same bits for any number of threads.
/// @throws BadFieldValue if the coefficient is not positive and finite or an alpha is negative or
///         not finite, InvertedCell
NearestSeparable make_nearest_separable(const BilinearForm& form);

}  // namespace tessera
