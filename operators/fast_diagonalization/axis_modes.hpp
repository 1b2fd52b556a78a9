// AxisModes are the eigenvectors of an axis, folded into even and odd ones where that is possible.
#pragma once

#include <array>
#include <vector>

#include "operators/fast_diagonalization/nearest_separable.hpp"

namespace tessera {

/// The modes of an axis, K v = lambda M v and v^T M v = 1, at its n free nodes.
///
/// Where the axis is its own mirror image, modes are even or odd, and half of each says all: u is
/// folded in place, u_i + u_{n-1-i} at i and u_i - u_{n-1-i} at n-1-i for i < n / 2, the middle
/// node of an odd number left as it is. The first ceil(n / 2) places then have the even part of u,
/// the others the odd part, and V^T u is one product of half the size for each: half the
/// multiplications. The same steps on the parts of V^T u, with V, give u back. Elsewhere nothing is
/// folded, and all modes are called even.
struct AxisModes {
  Index first_free = 0;
  Index even = 0;                    // number of even modes, ceil(n / 2) or n
  Index odd = 0;                     // n - even
  std::vector<double> even_vectors;  // [mode][i], i < even fastest
  std::vector<double> odd_vectors;   // [mode][i], place even + i, fastest
  std::vector<double> eigenvalues;   // [mode], the even ones first, ascending in either part

  Index size() const { return even + odd; }
  bool is_folded() const { return odd > 0; }
};

/// The modes of all axes; the third of a box in 2D has one, 1 with eigenvalue 0. Axes that differ
/// by scale alone are solved once; the problems are solved in parallel.
///
/// Where no end of an axis is constrained and none has an end term, its least eigenvalue is exactly
/// 0; all others are greater than 0. The reaction is no part of them.
/// @throws NumericalBreakdown if an eigenproblem is not solved; Interrupted
std::array<AxisModes, 3> make_axis_modes(const NearestSeparable& separable);

/// Whether an axis is its own mirror image: mesh, coefficient and both ends.
enum class AxisSymmetry { mirrored, none };

/// Even and odd modes of an axis of n free nodes.
constexpr std::array<Index, 2> mode_counts(Index n, AxisSymmetry symmetry) {
  const Index odd = symmetry == AxisSymmetry::mirrored ? n / 2 : 0;
  return {n - odd, odd};
}

/// What make_axis_modes() takes: the most bytes while modes are made, those of the modes, and about
/// how long it takes.
struct AxisWork {
  Index peak = 0;
  Index held = 0;
  double seconds = 0.0;
};

/// @param parts for each axis that is solved by itself the even and the odd modes, or all and 0
AxisWork axis_work(const std::vector<std::array<Index, 2>>& parts, int threads);

/// Free nodes along axis d.
Index free_nodes(const NodeLattice& lattice, FaceSet dirichlet, int d);

/// 1 / (a + b + c), or 0 where that sum is 0, which is the constant of a pure Neumann problem.
template <class T>
constexpr T inverse_sum(T a, T b, T c) {
  const T sum = a + b + c;
  return sum > T{0} ? T{1} / sum : T{0};
}

}  // namespace tessera
