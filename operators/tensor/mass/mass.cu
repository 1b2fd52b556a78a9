// This file has the tensor kernel of mass matrices on the GPU.
#include <algorithm>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/cell_access.cuh"
#include "operators/tensor/gpu/bricks.hpp"
#include "operators/tensor/gpu/factors.hpp"
#include "operators/tensor/mass/launch.hpp"
#include "operators/tensor/mass/mass.hpp"
#include "solvers/check.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 128;

template <class T>
const TensorKernelInfo<T>* find_kernel(const BilinearForm& form, FactorKind kind) {
  const Basis1D& basis = form.discretization->basis;
  return form.discretization->mesh.dimension() == 2
             ? find_mass_kernel<T, 2>(basis.degree, basis.point_count(), kind)
             : find_mass_kernel<T, 3>(basis.degree, basis.point_count(), kind);
}

// d_i += sum_q r_q phi_i(q)^2 for the nodes of the cells of one color, which share none. BB
// [i][q] are squares of values of the 1D basis; r [cell][q], null: all are `scale` times the
// weights' products. Launch: a thread a node of a cell. m^dim products a node, several times in a
// run; deterministic.
template <class T>
__global__ void __launch_bounds__(kThreads)
    mass_diagonal_kernel(const __grid_constant__ CellGrid grid,
                         const __grid_constant__ CellRange range, int m, const T* __restrict__ BB,
                         const T* __restrict__ weights, const T* __restrict__ r, T scale, T* d) {
  const int n = grid.degree + 1;
  const bool is_3d = grid.dimension == 3;
  const int nodes = is_3d ? n * n * n : n * n;
  const int planes = is_3d ? m : 1;
  const Index total = range.size() * nodes;
  for (Index t = thread_number<kThreads>(); t < total; t += thread_count<kThreads>()) {
    const CellPlace place = place_cell(grid, range, t / nodes);
    const CellNode node = cell_node(grid, place, static_cast<int>(t % nodes));
    const T* const of_x = BB + node.local % n * m;
    const T* const of_y = BB + node.local / n % n * m;
    const T* const of_z = BB + node.local / (n * n) * m;
    const T* at = r == nullptr ? nullptr : r + cell_number(grid, place.position) * (planes * m * m);
    T sum{0};
    for (int z = 0; z < planes; ++z) {
      T plane{0};
      for (int y = 0; y < m; ++y) {
        T row{0};
        for (int x = 0; x < m; ++x) {
          row += (at != nullptr ? *at++ : weights[x] * weights[y]) * of_x[x];
        }
        plane += row * of_y[y];
      }
      if (is_3d) plane *= at != nullptr ? of_z[z] : of_z[z] * weights[z];
      sum += plane;
    }
    d[node.lattice] += at != nullptr ? sum : scale * sum;
  }
}

template <class T>
class DeviceMassKernel final : public DeviceCellKernel<T>, public Updatable {
 public:
  DeviceMassKernel(const BilinearForm& form, FactorStorage storage,
                   const TensorKernelInfo<T>& kernel)
      : grid_(make_cell_grid(form)),
        basis_(form.discretization->basis),
        kind_(kind_of(form)),
        storage_(storage),
        kernel_(kernel),
        cells_per_block_(allow_cells_per_block(kernel)),
        BB_(squares(basis_)),
        weights_(rounded(basis_.quadrature.weights)) {
    if (kind_ != FactorKind::constant) {
      reaction_ = DeviceArray<T>(all_cells(grid_).size() * points_per_cell());
    }
    make(form);
  }

  static FactorKind kind_of(const BilinearForm& form) {
    return factor_kind(form.discretization->mapping, form.coefficient, form.reaction);
  }

  std::string_view name() const override { return "tensor"; }
  std::optional<FactorStorage> factor_storage() const override {
    return kind_ == FactorKind::general ? std::optional(storage_) : std::nullopt;
  }
  std::string why_no_patches() const override { return ""; }

  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    TensorArguments<T> args{};
    args.grid = grid_;
    args.range = range;
    args.source = source;
    args.sink = sink;
    args.reaction = reaction_.data();
    args.reaction_scale = static_cast<T>(reaction_scale_);
    choose_brick(cells_per_block_, args);
    kernel_.launch(args, basis_);
  }

  void add_diagonal(const std::vector<CellRange>& colors, T* d) const override {
    const Index nodes = power(grid_.degree + 1, grid_.dimension);
    for (const CellRange& color : colors) {
      if (color.size() == 0) continue;
      launch(mass_diagonal_kernel<T>,
             {"diagonal of a mass matrix", blocks_for(color.size() * nodes, kThreads, 1 << 20),
              kThreads},
             grid_, color, basis_.point_count(), BB_.data(), weights_.data(), reaction_.data(),
             static_cast<T>(reaction_scale_), d);
    }
  }

  Updated update(const BilinearForm& form) override {
    if (!is_mass(form.coefficient, form.reaction) || kind_of(form) != kind_) return Updated::no;
    make(form);
    return Updated::yes;
  }

  double flops_per_cell() const override {
    const double n = grid_.degree + 1;
    const double m = basis_.point_count();
    const int dim = grid_.dimension;
    if (kind_ == FactorKind::constant) {
      const double lines = dim == 3 ? n * n : n;
      return dim * lines * even_odd_line_flops(n, n) + lines * n;
    }
    const double lines = dim == 3 ? n * n + n * m + m * m : n + m;
    return lines * (even_odd_line_flops(m, n) + even_odd_line_flops(n, m)) +
           static_cast<double>(points_per_cell());
  }

  Index bytes() const override { return reaction_.bytes(); }
  Index streamed_bytes() const override { return reaction_.bytes(); }

 private:
  static std::vector<T> rounded(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }
  // B[q][i]^2, [i][q].
  static std::vector<T> squares(const Basis1D& basis) {
    std::vector<T> values;
    for (int i = 0; i <= basis.degree; ++i) {
      for (int q = 0; q < basis.point_count(); ++q) {
        values.push_back(static_cast<T>(basis.B(q, i) * basis.B(q, i)));
      }
    }
    return values;
  }

  Index points_per_cell() const { return power(basis_.point_count(), grid_.dimension); }

  void make(const BilinearForm& form) {
    DeviceFactorMaker<T> maker(form);
    if (kind_ == FactorKind::constant) {
      reaction_scale_ = *form.reaction.constant;
      for (int d = 0; d < grid_.dimension; ++d) {
        reaction_scale_ *= form.discretization->mesh.cell_width(d, 0);
      }
      return;
    }
    maker.make(0, all_cells(grid_).size(), nullptr, reaction_.data());
    maker.check();
  }

  CellGrid grid_;
  Basis1D basis_;
  FactorKind kind_;
  FactorStorage storage_;
  const TensorKernelInfo<T>& kernel_;
  int cells_per_block_;
  DeviceArray<T> BB_;
  DeviceArray<T> weights_;
  DeviceArray<T> reaction_;  // r_q [cell][q]; empty where all cells are alike
  double reaction_scale_ = 0.0;
};

}  // namespace

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_mass_kernel(const BilinearForm& form,
                                                             FactorStorage storage) {
  if (!is_mass(form.coefficient, form.reaction)) return nullptr;
  const TensorKernelInfo<T>* const kernel =
      find_kernel<T>(form, DeviceMassKernel<T>::kind_of(form));
  if (kernel == nullptr) return nullptr;
  return std::make_unique<DeviceMassKernel<T>>(form, storage, *kernel);
}

template std::unique_ptr<DeviceCellKernel<double>> make_device_mass_kernel(const BilinearForm&,
                                                                           FactorStorage);
template std::unique_ptr<DeviceCellKernel<float>> make_device_mass_kernel(const BilinearForm&,
                                                                          FactorStorage);

}  // namespace tessera
