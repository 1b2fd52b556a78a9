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
#include "operators/stencil/stencil.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

// The tile of march_kernel().
template <class T>
using Tile = std::conditional_t<sizeof(T) == sizeof(double), StencilTile<3, 64, 8, 2, 1>,
                                StencilTile<3, 64, 8, 1, 2>>;

template <class T, int dim>
class DeviceStencil final : public LinearOperator<T, Device> {
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
    if constexpr (dim == 3) prepare_launch();
    // Before the factors go.
    synchronize_device();
  }

  Index size() const override { return grid_.nodes.size(); }
  std::string name() const override { return kStencilName; }

  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    constexpr const char* kName = "product with the stencil";
    if constexpr (dim == 2) {
      const unsigned tiles_x = blocks_for(layout_.extent[0], kNodeTileX);
      const unsigned tiles_y = blocks_for(layout_.extent[2], kNodeTileY);
      launch(node_kernel<T>, {kName, tiles_x * tiles_y, dim3(kNodeTileX, kNodeTileY)}, layout_,
             tiles_x, coefficients_.data(), x.data(), y.data());
    } else {
      launch(march_kernel<T, Tile<T>>,
             {kName, blocks_, dim3(Tile<T>::kX, Tile<T>::kY), shared_bytes()}, layout_, chunk_,
             y_first_, coefficients_.data(), x.data(), y.data());
    }
  }

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

 private:
  static constexpr int kNeighbors = StencilNeighbors<dim>::kNeighbors;
  static constexpr int kNodes = 1 << dim;
  static constexpr std::size_t shared_bytes() { return Tile<T>::template shared_bytes<T>(); }

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

  // Chunks long enough that the plane below each, which is read once more, costs little, and short
  // enough that all multiprocessors are busy to the end.
  void prepare_launch() {
    constexpr int kMinPlanes = 8;
    constexpr int kMaxPlanes = 32;
    constexpr Index kRounds = 8;
    allow_shared_memory(march_kernel<T, Tile<T>>, shared_bytes());
    const Index wanted =
        kRounds * Tile<T>::kBlocks * device_attribute(cudaDevAttrMultiProcessorCount);
    const Index tiles_x = ceil_div(layout_.extent[0], Tile<T>::kX);
    const Index tiles_y = ceil_div(layout_.extent[1], Tile<T>::kY);
    const Index planes = layout_.extent[2];
    // CUDA's limits: 2^31 - 1 blocks along x, these along y and z.
    constexpr Index kMaxBlocks = 65535;
    chunk_ = static_cast<int>(
        std::max(std::clamp<Index>(planes * tiles_x * tiles_y / wanted, kMinPlanes, kMaxPlanes),
                 ceil_div(planes, kMaxBlocks)));
    y_first_ = tiles_y > kMaxBlocks;
    blocks_ = dim3(static_cast<unsigned>(y_first_ ? tiles_y : tiles_x),
                   static_cast<unsigned>(y_first_ ? tiles_x : tiles_y),
                   static_cast<unsigned>(ceil_div(planes, chunk_)));
  }

  CellGrid grid_;
  StencilLayout layout_;
  DeviceArray<T> coefficients_;
  int chunk_ = 0;
  bool y_first_ = false;
  dim3 blocks_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_stencil_operator(const BilinearForm& form,
                                                                        Index scratch_bytes) {
  const NodeLattice& lattice = form.discretization->lattice;
  const std::string reason = why_not_stencil(lattice);
  if (!reason.empty()) throw UnsuitableChoice(Choice::kernel, reason);
  if (lattice.dimension() == 2) return std::make_unique<DeviceStencil<T, 2>>(form, scratch_bytes);
  return std::make_unique<DeviceStencil<T, 3>>(form, scratch_bytes);
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_stencil_operator(
    const BilinearForm&, Index);
template std::unique_ptr<LinearOperator<float, Device>> make_device_stencil_operator(
    const BilinearForm&, Index);

}  // namespace tessera
