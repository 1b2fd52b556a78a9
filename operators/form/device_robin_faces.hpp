// DeviceRobinFaces add the boundary part of a form on the GPU.
#pragma once

#include <vector>

#include "operators/form/cell_grid.hpp"
#include "solvers/memory/device_array.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

/// The boundary part <alpha u, v> of a stiffness form on the GPU. As RobinFaces; deterministic:
/// face cells by the parity of their position, one launch each.
template <class T>
class DeviceRobinFaces {
 public:
  /// @throws BadFieldValue as make_weighted_faces()
  explicit DeviceRobinFaces(const BilinearForm& form);

  /// y += A_robin x; nodes on Dirichlet faces are neither read nor written.
  void add(const DeviceVector<T>& x, DeviceVector<T>& y) const;
  /// d_i += (A_robin)_ii for all nodes.
  void add_diagonal(DeviceVector<T>& d) const;
  Index bytes() const;

 private:
  struct Face {
    FaceNodes nodes;
    int cells[2];
    unsigned fixed;  // bit 2 t: lower end of tangential axis t is constrained, 2 t + 1: upper
    int points_per_cell;
    int nodes_per_cell;
    DeviceArray<T> shape;          // [q][i]
    DeviceArray<T> alpha_measure;  // [cell][q]
  };

  template <class F>
  void for_each_color(F&& f) const;

  int degree_;
  std::vector<Face> faces_;
};

extern template class DeviceRobinFaces<double>;
extern template class DeviceRobinFaces<float>;

}  // namespace tessera
