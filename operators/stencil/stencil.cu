// This file makes and applies the stencil on the GPU.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "operators/cells/element_kernel.hpp"
#include "operators/form/robin_faces.hpp"
#include "operators/stencil/assembly.cuh"
#include "operators/stencil/device_stencil.hpp"
#include "operators/stencil/kernels.cuh"
#include "operators/stencil/planes_per_block.hpp"
#include "operators/stencil/stencil.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

// The tile of march_kernel().
template <class T>
using Tile = std::conditional_t<sizeof(T) == sizeof(double),
                                StencilTile<3, kStencilTileX, kStencilTileY, 2, 1>,
                                StencilTile<3, kStencilTileX, kStencilTileY, 1, 2>>;

// The coefficients and all but their product with a vector.
template <class T, int dim>
class DeviceStencil : public LinearOperator<T, Device> {
 public:
  DeviceStencil(const BilinearForm& form, Index scratch_bytes)
      : grid_(make_cell_grid(form)),
        layout_(make_stencil_layout(form.discretization->lattice, sizeof(T))) {
    const auto kernel = make_device_element_kernel<T>(form);
    coefficients_ = DeviceArray<T>(stencil_values(layout_));
    zero_on_device(coefficients_.data(), coefficients_.bytes());
    const Discretization& discretization = *form.discretization;
    add_cells(*kernel, factor_kind(discretization.mapping, form.coefficient, form.reaction),
              scratch_bytes);
    for (const WeightedFace& face : make_weighted_faces(form)) add_face(face);
    launch(constrain_kernel<T, dim>, assembly_launch("constrained rows of the stencil", size()),
           grid_, layout_, coefficients_.data());
    // Before the factors go.
    synchronize_device();
  }

  Index size() const override { return grid_.nodes.size(); }
  std::string name() const override { return kStencilName; }

  void do_diagonal(DeviceVector<T>& d) const override {
    launch(copy_diagonal_kernel<T>, assembly_launch("diagonal of the stencil", size()), layout_,
           coefficients_.data(), d.data());
  }

  /// The coefficients of nodes, x and y once.
  Cost cost() const override {
    const auto nodes = static_cast<double>(size());
    return {(kNeighbors + 3.0) * nodes * sizeof(T), (4.0 * kNeighbors + 1.0) * nodes};
  }

  Index bytes() const override { return coefficients_.bytes(); }

 protected:
  const StencilLayout& stencil_layout() const { return layout_; }
  const T* coefficients() const { return coefficients_.data(); }

 private:
  static constexpr int kNeighbors = StencilNeighbors<dim>::kNeighbors;
  static constexpr int kNodes = 1 << dim;

  void add(const CellRange& range, const T* matrices, Index matrix_stride) {
    Index nodes = 1;
    for (int d = 0; d < dim; ++d) nodes *= range.count[d] + 1;
    launch(add_cells_kernel<T, dim>, assembly_launch("adding local matrices to the stencil", nodes),
           grid_, range, layout_, matrices, matrix_stride, coefficients_.data());
  }

  void add_cells(const DeviceCellKernel<T>& kernel, FactorKind kind, Index scratch_bytes) {
    if (kind == FactorKind::constant) {
      DeviceArray<T> matrix(kNodes * kNodes);
      find_local_matrices(kernel, {{0, 0, 0}, {1, 1, 1}, 1}, kNodes, matrix.data());
      add(all_cells(grid_), matrix.data(), 0);
      synchronize_device();
      return;
    }
    const Index matrix_bytes = kNodes * kNodes * static_cast<Index>(sizeof(T));
    const CellRange largest = largest_slab(grid_, scratch_bytes / matrix_bytes);
    DeviceArray<T> matrices(largest.size() * kNodes * kNodes);
    for_each_slab(grid_, largest, [&](const CellRange& slab) {
      find_local_matrices(kernel, slab, kNodes, matrices.data());
      add(slab, matrices.data(), kNodes * kNodes);
    });
    // Before the matrices go.
    synchronize_device();
  }

  void add_face(const WeightedFace& weighted) {
    const FaceQuadrature& quadrature = weighted.quadrature;
    const int normal = face_axis(quadrature.face);
    const StencilFace face{
        {quadrature.nodes.axes[0], quadrature.nodes.axes[1]},
        normal,
        is_upper_face(quadrature.face) ? grid_.cells[normal] : 0,
        {static_cast<int>(quadrature.cells[0]), static_cast<int>(quadrature.cells[1])},
        quadrature.points_per_cell};
    const DeviceArray<double> weights(weighted.alpha_measure);
    const DeviceArray<double> shape(quadrature.shape);
    const Index nodes = quadrature.nodes.counts[0] * quadrature.nodes.counts[1];
    launch(add_face_kernel<T, dim>, assembly_launch("adding Robin faces to the stencil", nodes),
           grid_, face, layout_, weights.data(), shape.data(), coefficients_.data());
    synchronize_device();
  }

  CellGrid grid_;
  StencilLayout layout_;
  DeviceArray<T> coefficients_;
};

constexpr const char* kProductName = "product with the stencil";

template <class T>
class DeviceStencil2D final : public DeviceStencil<T, 2> {
 public:
  using DeviceStencil<T, 2>::DeviceStencil;

  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    const StencilLayout& layout = this->stencil_layout();
    const unsigned tiles_x = blocks_for(layout.extent[0], kNodeTileX);
    const unsigned tiles_y = blocks_for(layout.extent[2], kNodeTileY);
    launch(node_kernel<T>, {kProductName, tiles_x * tiles_y, dim3(kNodeTileX, kNodeTileY)}, layout,
           tiles_x, this->coefficients(), x.data(), y.data());
  }
};

template <class T>
class DeviceStencil3D final : public DeviceStencil<T, 3>, public FusedOperations<T, Device> {
 public:
  DeviceStencil3D(const BilinearForm& form, Index scratch_bytes)
      : DeviceStencil<T, 3>(form, scratch_bytes), arrived_(1) {
    const auto allow = [](auto kernel) { allow_shared_memory(kernel, kSharedBytes); };
    allow(march_kernel<T, Tile<T>, StencilPass::apply>);
    allow(march_kernel<T, Tile<T>, StencilPass::apply_dot>);
    allow(march_kernel<T, Tile<T>, StencilPass::residual>);
    const StencilLayout& layout = this->stencil_layout();
    const Index tiles_x = ceil_div(layout.extent[0], Tile<T>::kX);
    const Index tiles_y = ceil_div(layout.extent[1], Tile<T>::kY);
    const Index planes = layout.extent[2];
    // CUDA's limits: 2^31 - 1 blocks along x, these along y and z.
    constexpr Index kMaxBlocks = 65535;
    const int resident = resident_blocks(march_kernel<T, Tile<T>, StencilPass::apply>,
                                         Tile<T>::kThreads, kSharedBytes);
    chunk_ = static_cast<int>(std::max(planes_per_block(planes, tiles_x * tiles_y, resident),
                                       ceil_div(planes, kMaxBlocks)));
    y_first_ = tiles_y > kMaxBlocks;
    blocks_ = dim3(static_cast<unsigned>(y_first_ ? tiles_y : tiles_x),
                   static_cast<unsigned>(y_first_ ? tiles_x : tiles_y),
                   static_cast<unsigned>(ceil_div(planes, chunk_)));
    // Coefficients that leave the cache first leave most of the vectors there for the next product.
    // Those of ring nodes then come from memory twice, which costs more where vectors are long; and
    // where all fits, nothing has to leave.
    const Index cache = device_attribute(cudaDevAttrL2CacheSize);
    const Index coefficients = DeviceStencil<T, 3>::bytes();
    if (coefficients >= cache / 2 && coefficients <= 5 * cache / 2) {
      cache_use_ = CacheUse::first_to_go;
    }
    partial_ = DeviceArray<Sums<2>>(static_cast<Index>(blocks_.x) * blocks_.y * blocks_.z);
    zero_on_device(arrived_.data(), arrived_.bytes());
    synchronize_device();
  }

  Index bytes() const override { return DeviceStencil<T, 3>::bytes() + partial_.bytes(); }

  const FusedOperations<T, Device>* fused() const override { return this; }

  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    run<StencilPass::apply>({x.data(), y.data()});
  }
  void do_apply_dot(const DeviceVector<T>& x, DeviceVector<T>& y, double* sums) const override {
    run<StencilPass::apply_dot>({x.data(), y.data(), nullptr, sums});
  }
  void do_residual(const DeviceVector<T>& b, const DeviceVector<T>& x, DeviceVector<T>& r,
                   double* rr) const override {
    run<StencilPass::residual>({x.data(), r.data(), b.data(), rr});
  }

 private:
  static constexpr Index kSharedBytes = Tile<T>::template shared_bytes<T>();

  template <StencilPass pass>
  void run(StencilVectors<T> v) const {
    v.partial = partial_.data();
    v.arrived = arrived_.data();
    launch(march_kernel<T, Tile<T>, pass>, {kProductName, blocks_, Tile<T>::kThreads, kSharedBytes},
           this->stencil_layout(), chunk_, y_first_, this->coefficients(), cache_use_, v);
  }

  int chunk_ = 0;
  bool y_first_ = false;
  dim3 blocks_;
  CacheUse cache_use_ = CacheUse::usual;
  // What blocks leave of sums.
  mutable DeviceArray<Sums<2>> partial_;
  mutable DeviceArray<unsigned> arrived_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_stencil_operator(const BilinearForm& form,
                                                                        Index scratch_bytes) {
  const NodeLattice& lattice = form.discretization->lattice;
  const std::string reason = why_not_stencil(lattice);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  if (lattice.dimension() == 2) return std::make_unique<DeviceStencil2D<T>>(form, scratch_bytes);
  return std::make_unique<DeviceStencil3D<T>>(form, scratch_bytes);
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_stencil_operator(
    const BilinearForm&, Index);
template std::unique_ptr<LinearOperator<float, Device>> make_device_stencil_operator(
    const BilinearForm&, Index);

}  // namespace tessera
