// This file gathers, applies a local kernel and scatters on the GPU.
#include "operators/cells/cell_access.cuh"
#include "operators/cells/device_matrix_free.hpp"
#include "operators/form/device_robin_faces.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/form/updatable.hpp"
#include "solvers/adding_operator.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 256;

// y_i = sum over the cells of node i of their E-vector entries, in the order of the cells; y = x on
// constrained nodes. Launch: kThreads nodes of a lattice row along x a block; deterministic.
// Bytes a DoF: (1 + 1/p)^dim values read, one written.
template <class T>
__global__ void __launch_bounds__(kThreads)
    gather_cells_kernel(const __grid_constant__ CellGrid grid, unsigned blocks_per_row,
                        const T* __restrict__ e, const T* __restrict__ x, T* __restrict__ y) {
  const int p = grid.degree;
  const int n = p + 1;
  const unsigned row = blockIdx.x / blocks_per_row;
  const unsigned extent_y = static_cast<unsigned>(grid.nodes.extents[1]);
  const int position[3] = {
      static_cast<int>((blockIdx.x - row * blocks_per_row) * kThreads + threadIdx.x),
      static_cast<int>(row % extent_y), static_cast<int>(row / extent_y)};
  const Index nodes = grid.dimension == 3 ? n * n * n : n * n;
  if (position[0] >= grid.nodes.extents[0]) return;
  const Index node = grid.nodes.index(position[0], position[1], position[2]);
  int last_cell[3] = {0, 0, 0};
  int last_local[3] = {0, 0, 0};
  int count[3] = {1, 1, 1};
  unsigned faces = 0U;
  for (int d = 0; d < grid.dimension; ++d) {
    last_cell[d] = position[d] / p;
    last_local[d] = position[d] % p;
    faces |= face_mask(d, position[d], grid.cells[d] * p);
    if (last_local[d] != 0 || last_cell[d] == 0) continue;
    if (last_cell[d] == grid.cells[d]) {
      --last_cell[d];
      last_local[d] = p;
    } else {
      count[d] = 2;
    }
  }
  if ((faces & grid.dirichlet) != 0U) {
    y[node] = x[node];
    return;
  }
  T sum{0};
  for (int cz = count[2] - 1; cz >= 0; --cz) {
    for (int cy = count[1] - 1; cy >= 0; --cy) {
      for (int cx = count[0] - 1; cx >= 0; --cx) {
        const int step[3] = {cx, cy, cz};
        Index cell = 0;
        int local = 0;
        for (int d = grid.dimension - 1; d >= 0; --d) {
          cell = cell * grid.cells[d] + last_cell[d] - step[d];
          local = local * n + (step[d] == 0 ? last_local[d] : p);
        }
        sum += e[cell * nodes + local];
      }
    }
  }
  y[node] = sum;
}

// d = 1 on constrained nodes. One thread a node.
template <class T>
__global__ void constrain_diagonal_kernel(const __grid_constant__ CellGrid grid, T* d) {
  const Index size = grid.nodes.size();
  for (Index node = thread_number<kThreads>(); node < size; node += thread_count<kThreads>()) {
    if (is_constrained(grid, node)) d[node] = T{1};
  }
}

template <class T>
class DeviceMatrixFree final : public AddingOperator<T, Device>, public Updatable {
 public:
  DeviceMatrixFree(const BilinearForm& form, std::unique_ptr<DeviceCellKernel<T>> kernel,
                   DeviceScatter scatter)
      : grid_(make_cell_grid(form)),
        colors_(cell_colors(grid_)),
        nodes_per_cell_(form.discretization->lattice.nodes_per_cell()),
        kernel_(std::move(kernel)),
        scatter_(scatter),
        robin_terms_(form.robin),
        robin_(form),
        cell_values_(scatter == DeviceScatter::private_cells
                         ? all_cells(grid_).size() * nodes_per_cell_
                         : 0) {
    if (scatter != DeviceScatter::patch) return;
    const std::string reason = kernel_->why_no_patches();
    if (!reason.empty()) throw std::invalid_argument(reason);
  }

  Index size() const override { return grid_.nodes.size(); }
  std::string name() const override {
    return operator_name(kernel_->name(), scatter_name(scatter_), kernel_->factor_storage());
  }

  // A vector that is cleared long before it is added to must still be in the L2 cache then, because
  // sums in DRAM are slow: 10 million DoFs took a third longer where others had been in between.
  bool adds(int vectors_of_pass) const override {
    return adds_by_kernel() && vectors_of_pass * size() * static_cast<Index>(sizeof(T)) <=
                                   device_attribute(cudaDevAttrL2CacheSize);
  }

  void do_apply(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    if (adds_by_kernel()) zero(y);
    do_apply_to_zeros(x, y);
  }

  void do_diagonal(DeviceVector<T>& d) const override {
    zero(d);
    kernel_->add_diagonal(colors_, d.data());
    robin_.add_diagonal(d);
    launch(constrain_diagonal_kernel<T>,
           {"diagonal of constrained rows", blocks_for(grid_.nodes.size(), kThreads, 1 << 20),
            kThreads},
           grid_, d.data());
  }

  /// x once, y once, and what the kernel stores once.
  Cost cost() const override {
    return {2.0 * static_cast<double>(size()) * sizeof(T) +
                static_cast<double>(kernel_->streamed_bytes()),
            static_cast<double>(all_cells(grid_).size()) * kernel_->flops_per_cell()};
  }

  Updated update(const BilinearForm& form) override {
    if (update_in_place(*kernel_, form) == Updated::no) return Updated::no;
    if (!are_same(robin_terms_, form.robin)) robin_ = DeviceRobinFaces<T>(form);
    robin_terms_ = form.robin;
    return Updated::yes;
  }

  Index bytes() const override { return kernel_->bytes() + cell_values_.bytes() + robin_.bytes(); }

 private:
  void do_apply_to_zeros(const DeviceVector<T>& x, DeviceVector<T>& y) const override {
    const CellSource<T> source{x.data()};
    const auto run = [&](SinkKind kind) {
      kernel_->apply(all_cells(grid_), source, {kind, y.data(), x.data()});
    };
    switch (scatter_) {
      case DeviceScatter::atomic:
        run(SinkKind::add_atomic);
        break;
      case DeviceScatter::patch:
        run(SinkKind::patch);
        break;
      case DeviceScatter::unprotected:
        run(SinkKind::add);
        break;
      case DeviceScatter::coloring:
        for (const CellRange& color : colors_) {
          kernel_->apply(color, source, {SinkKind::first_or_add, y.data(), x.data()});
        }
        break;
      case DeviceScatter::private_cells:
        kernel_->apply(all_cells(grid_), source,
                       {SinkKind::cells, cell_values_.data(), nullptr, nodes_per_cell_});
        gather_cells(x, y);
        break;
    }
    robin_.add(x, y);
  }

  bool adds_by_kernel() const {
    return scatter_ == DeviceScatter::atomic || scatter_ == DeviceScatter::patch ||
           scatter_ == DeviceScatter::unprotected;
  }

  static void zero(DeviceVector<T>& y) {
    zero_on_device(y.data(), y.size() * static_cast<Index>(sizeof(T)));
  }

  void gather_cells(const DeviceVector<T>& x, DeviceVector<T>& y) const {
    const unsigned blocks_per_row = blocks_for(grid_.nodes.extents[0], kThreads);
    const auto rows = static_cast<unsigned>(grid_.nodes.extents[1] * grid_.nodes.extents[2]);
    launch(gather_cells_kernel<T>, {"gather of the E-vector", rows * blocks_per_row, kThreads},
           grid_, blocks_per_row, cell_values_.data(), x.data(), y.data());
  }

  CellGrid grid_;
  std::vector<CellRange> colors_;
  Index nodes_per_cell_;
  std::unique_ptr<DeviceCellKernel<T>> kernel_;
  DeviceScatter scatter_;
  std::vector<RobinTerm> robin_terms_;
  DeviceRobinFaces<T> robin_;
  // Scratch of apply().
  mutable DeviceArray<T> cell_values_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_matrix_free(
    const BilinearForm& form, std::unique_ptr<DeviceCellKernel<T>> kernel, DeviceScatter scatter) {
  return std::make_unique<DeviceMatrixFree<T>>(form, std::move(kernel), scatter);
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_matrix_free(
    const BilinearForm&, std::unique_ptr<DeviceCellKernel<double>>, DeviceScatter);
template std::unique_ptr<LinearOperator<float, Device>> make_device_matrix_free(
    const BilinearForm&, std::unique_ptr<DeviceCellKernel<float>>, DeviceScatter);

}  // namespace tessera
