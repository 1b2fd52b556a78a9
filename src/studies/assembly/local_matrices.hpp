// Functors here make the local matrices that triangles add.
#pragma once

#include "src/studies/assembly/assembly_target.hpp"

namespace tessera {

/// The stiffness matrix of linear elements on a triangle, integral grad(phi_i) . grad(phi_j), times
/// t = 1, which a chain of `operations` steps t = a t + b, a = b = 1/2, computes anew for each
/// triangle. a is read from memory each time, so that no compiler knows that t stays 1.
class StiffnessMatrices {
 public:
  StiffnessMatrices(const TriangleMesh& mesh, int operations)
      : mesh_(&mesh), operations_(operations) {}

  LocalMatrix operator()(Index triangle) const {
    const Triangle& corners = mesh_->triangles[triangle];
    std::array<PlanePoint, 3> side;  // opposite of each corner
    for (int i = 0; i < 3; ++i) {
      const PlanePoint& from = mesh_->points[corners[(i + 1) % 3]];
      const PlanePoint& to = mesh_->points[corners[(i + 2) % 3]];
      side[i] = {to[0] - from[0], to[1] - from[1]};
    }
    const double twice_area = side[0][0] * side[1][1] - side[0][1] * side[1][0];
    const double factor = one() / (2.0 * twice_area);
    LocalMatrix matrix;
    for (int e = 0; e < kLocalEntries; ++e) {
      const PlanePoint& a = side[e / 3];
      const PlanePoint& b = side[e % 3];
      matrix[e] = factor * (a[0] * b[0] + a[1] * b[1]);
    }
    return matrix;
  }

 private:
  double one() const {
    const double half = half_;
    double t = 1.0;
    for (int k = 0; k < operations_; ++k) t = half * t + half;
    return t;
  }

  const TriangleMesh* mesh_;
  int operations_;
  volatile double half_ = 0.5;
};

/// 1 in all entries. Sums of these are exact, so that each lost addition is seen.
struct OnesMatrices {
  LocalMatrix operator()(Index /*triangle*/) const {
    LocalMatrix ones;
    ones.fill(1.0);
    return ones;
  }
};

}  // namespace tessera
