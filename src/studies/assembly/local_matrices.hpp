// Functors here make the local matrices that triangles add.
#pragma once

#include <vector>

#include "src/studies/assembly/assembly_target.hpp"
#include "src/studies/assembly/triangle_stiffness.hpp"

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
    const std::vector<PlanePoint>& points = mesh_->points;
    return triangle_stiffness<double>({points[corners[0]], points[corners[1]], points[corners[2]]},
                                      one());
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
