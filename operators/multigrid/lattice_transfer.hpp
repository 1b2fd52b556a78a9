// A LatticeTransfer prolongates and restricts between two lattices, axis by axis.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/element/axis_matrix.hpp"
#include "mesh/face.hpp"
#include "operators/multigrid/cell_transfer.hpp"
#include "operators/multigrid/lattice_product.hpp"
#include "solvers/sparse_rows.hpp"
#include "solvers/transfer.hpp"

namespace tessera {

/// The sweeps of a product of 1D matrices, one along each axis where the matrix is not the
/// identity.
struct AxisSweep {
  int d;
  AxisMatrix matrix;
};

/// P between two lattices as P_x x P_y x P_z: values of the coarser space at the finer's nodes, by
/// the tables of one axis each. Columns of constrained ends are zero where an axis has a sweep:
/// corrections vanish there, and residuals there are not restricted.
struct LatticeProlongation {
  IndexBox coarse;
  IndexBox fine;
  std::vector<AxisSweep> sweeps;  // x first
};

/// @param dirichlet whose nodes are masked; none for values that do not vanish there
LatticeProlongation make_prolongation(const Discretization& coarse, const Discretization& fine,
                                      FaceSet dirichlet);

/// Applies P and P^T axis by axis. Deterministic.
template <class T, class Space>
class LatticeTransfer;

/// On the host: x first and last, with a vector between sweeps: for halving along three axes 2.6
/// (restriction) and 3.6 (prolongation) fine vectors read or written, (p_c + 1) (1 + 1/2 + 1/4)
/// multiplications a fine DoF each.
template <class T>
class LatticeTransfer<T, Host> final : public Transfer<T, Host> {
 public:
  explicit LatticeTransfer(const LatticeProlongation& prolongation);
  Index coarse_size() const override { return coarse_size_; }
  Index fine_size() const override { return fine_size_; }
  void do_restrict_to_coarse(const HostVector<T>& fine, HostVector<T>& coarse) const override;
  void do_add_prolonged(const HostVector<T>& coarse, HostVector<T>& fine) const override;
  Index bytes() const override;

 private:
  struct Sweep {
    int d;
    AxisMatrix matrix;
    std::vector<T> entries;
    IndexBox from;
  };
  void run(const std::vector<Sweep>& sweeps, const T* in, T* out, LineStore last) const;

  Index coarse_size_;
  Index fine_size_;
  std::vector<Sweep> prolong_;
  std::vector<Sweep> restrict_;
  mutable HostVector<T> scratch_[2];
};

/// On the GPU: all axes in one kernel, with one fine vector read (restriction) and one read and
/// written (prolongation): that of a CellTransfer where all cells are alike, else of
/// LatticeProducts.
template <class T>
class LatticeTransfer<T, Device> final : public Transfer<T, Device> {
 public:
  explicit LatticeTransfer(const LatticeProlongation& prolongation);
  Index coarse_size() const override { return coarse_size_; }
  Index fine_size() const override { return fine_size_; }
  void do_restrict_to_coarse(const DeviceVector<T>& fine, DeviceVector<T>& coarse) const override;
  void do_add_prolonged(const DeviceVector<T>& coarse, DeviceVector<T>& fine) const override;
  Index bytes() const override;

 private:
  struct Products {
    LatticeProduct<T> prolong;
    LatticeProduct<T> restrict;
  };

  Index coarse_size_;
  Index fine_size_;
  // One of them is there.
  std::optional<CellTransfer<T>> cells_;
  std::optional<Products> products_;
};

/// P as a sparse matrix on the GPU, zeros left out, and its transpose: for small lattices.
template <class T>
DeviceSparseRows<T> prolongation_rows(const LatticeProlongation& prolongation);
template <class T>
DeviceSparseRows<T> restriction_rows(const LatticeProlongation& prolongation);

/// Entries of P with Gauss-Lobatto nodes and nothing constrained, between degrees or meshes.
Index max_prolongation_entries(const NodeLattice& coarse, const NodeLattice& fine,
                               const BoxMesh& fine_mesh);

}  // namespace tessera
