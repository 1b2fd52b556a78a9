// This file picks a tensor kernel of the GPU, and its cells per block.
#include <cmath>
#include <stdexcept>

#include "mesh/element/basis_1d.hpp"
#include "operators/cells/element_kernel.hpp"
#include "operators/tensor/compressed/compressed.hpp"
#include "operators/tensor/device_tensor.hpp"
#include "operators/tensor/gpu/any_degree.hpp"
#include "operators/tensor/gpu/bricks.hpp"
#include "operators/tensor/mass/mass.hpp"
#include "operators/tensor/on_the_fly/on_the_fly.hpp"
#include "operators/tensor/sweeps/sweep_flops.hpp"
#include "solvers/check.hpp"

namespace tessera {
namespace {

template <class T>
const TensorKernelInfo<T>* find_unrolled_kernel(int dimension, int degree, int points,
                                                FactorKind kind) {
  return dimension == 2 ? find_tensor_kernel<T, 2>(degree, points, kind)
                        : find_tensor_kernel<T, 3>(degree, points, kind);
}

template <class T>
class DeviceTensorKernel final : public DeviceCellKernel<T>, public Updatable {
 public:
  explicit DeviceTensorKernel(const BilinearForm& form)
      : grid_(make_cell_grid(form)),
        basis_(form.discretization->basis),
        factors_(form),
        any_size_(form),
        unrolled_(find_unrolled_kernel<T>(grid_.dimension, grid_.degree, basis_.point_count(),
                                          factors_.kind())) {
    if (unrolled_ != nullptr) cells_per_block_ = allow_cells_per_block(*unrolled_);
  }

  std::string_view name() const override { return "tensor"; }
  std::optional<FactorStorage> factor_storage() const override {
    return factors_.kind() == FactorKind::general ? std::optional(FactorStorage::stored)
                                                  : std::nullopt;
  }
  std::string why_no_patches() const override {
    return unrolled_ != nullptr ? "" : "the tensor kernel of run-time size has no patches";
  }

  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    if (unrolled_ == nullptr) {
      TESSERA_CHECK(sink.kind != SinkKind::patch);
      any_size_.apply(grid_, range, source, sink, factors_.view());
      return;
    }
    TensorArguments<T> args{};
    args.grid = grid_;
    args.range = range;
    args.source = source;
    args.sink = sink;
    args.factors = factors_.data();
    args.factor_stride = factors_.cell_stride();
    for (int d = 0; d < 3; ++d) args.axis_scale[d] = static_cast<T>(factors_.axis_scale()[d]);
    args.reaction = factors_.reaction();
    args.reaction_scale = static_cast<T>(factors_.reaction_scale());
    choose_brick(cells_per_block_, args);
    unrolled_->launch(args, basis_);
  }

  void add_diagonal(const std::vector<CellRange>& colors, T* d) const override {
    for (const CellRange& color : colors) {
      any_size_.add_diagonal(grid_, color, factors_.view(), d);
    }
  }

  Updated update(const BilinearForm& form) override { return factors_.update(form); }

  double flops_per_cell() const override {
    const int n = grid_.degree + 1;
    const int m = basis_.point_count();
    if (factors_.kind() == FactorKind::constant) {
      const double per_node = unrolled_ != nullptr ? 7.0 * n + 10.0 : 18.0 * n + 6.0;
      return grid_.dimension == 3 ? per_node * n * n * n : (8.0 * n + 3.0) * n * n;
    }
    const int dim = grid_.dimension;
    const bool is_general = factors_.kind() == FactorKind::general;
    const double factors = is_general ? dim * (2.0 * dim - 1.0) : 2.0 * dim;
    const double at_points = factors * std::pow(m, dim);
    if (unrolled_ != nullptr && dim == 2) return side_by_side_flops(2, n, m) + at_points;
    if (unrolled_ != nullptr && !is_general) {
      return line_sweep_flops(scaled_line_sweep<T>(m), n, m) + at_points;
    }
    return whole_matrix_flops(dim, n, m) + at_points;
  }

  Index bytes() const override { return factors_.bytes() + any_size_.bytes(); }
  Index streamed_bytes() const override { return factors_.bytes(); }

 private:
  CellGrid grid_;
  Basis1D basis_;
  DeviceFactors<T> factors_;
  TensorAnySize<T> any_size_;
  const TensorKernelInfo<T>* unrolled_;
  int cells_per_block_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_tensor_kernel(const BilinearForm& form,
                                                               FactorStorage storage) {
  if (auto mass = make_device_mass_kernel<T>(form, storage)) return mass;
  switch (storage) {
    case FactorStorage::stored:
      return std::make_unique<DeviceTensorKernel<T>>(form);
    case FactorStorage::compressed:
      return make_compressed_kernel<T>(form);
    case FactorStorage::on_the_fly:
      return make_on_the_fly_kernel<T>(form);
  }
  throw std::logic_error("a storage of factors without a kernel");
}

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_device_element_kernel(const BilinearForm& form) {
  return std::make_unique<DeviceTensorKernel<T>>(form);
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template std::unique_ptr<DeviceCellKernel<T>> make_device_tensor_kernel(const BilinearForm&, \
                                                                          FactorStorage);      \
  template std::unique_ptr<DeviceCellKernel<T>> make_device_element_kernel(const BilinearForm&);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
