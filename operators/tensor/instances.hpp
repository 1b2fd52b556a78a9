// These templates make the tensor kernels of the host for one dimension and precision.
#pragma once

#include <memory>
#include <utility>

#include "operators/cells/matrix_free.hpp"
#include "operators/tensor/kernel.hpp"

namespace tessera {

/// The parts of make_tensor_operator() and make_tensor_cell_kernel() for one dimension and
/// precision: each pair is one translation unit, so that they compile side by side.
template <class T, int dim>
struct TensorInstances {
  static std::unique_ptr<LinearOperator<T, Host>> make_operator(
      const BilinearForm& form, std::shared_ptr<const CellBatches> batches,
      std::unique_ptr<Scatter<T>> scatter);
  static std::unique_ptr<CellKernel<T>> make_cell_kernel(
      const Discretization& discretization, std::shared_ptr<const GeometricFactors<T>> factors);
};

/// A concrete local kernel as a CellKernel.
template <class Kernel>
class ErasedKernel final : public CellKernel<typename Kernel::value_type> {
 public:
  using T = typename Kernel::value_type;

  explicit ErasedKernel(Kernel kernel) : kernel_(std::move(kernel)) {}

  Index scratch_size() const override { return kernel_.scratch_size(); }
  void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v,
             Lanes<T>* scratch) const override {
    kernel_.apply(batch.index, u, v, scratch);
  }

 private:
  Kernel kernel_;
};

/// A kernel that computes its factors, behind virtual calls.
template <class T>
class ComputingKernel {
 public:
  virtual ~ComputingKernel() = default;

  virtual std::string_view name() const = 0;
  virtual std::optional<GeometryForm> geometry() const = 0;
  virtual int nodes_per_axis() const = 0;
  virtual Index scratch_size() const = 0;
  virtual void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v,
                     Lanes<T>* scratch) const = 0;
  virtual void diagonal(const CellBatch& batch, Lanes<T>* d, Lanes<T>* scratch) const = 0;
  virtual double flops_per_cell() const = 0;
  virtual Index bytes() const = 0;
  virtual Index streamed_bytes() const = 0;
};

/// A TensorKernel that computes its factors, as a ComputingKernel.
template <class Kernel>
class ErasedComputingKernel final : public ComputingKernel<typename Kernel::value_type> {
 public:
  using T = typename Kernel::value_type;

  explicit ErasedComputingKernel(Kernel kernel) : kernel_(std::move(kernel)) {}

  std::string_view name() const override { return kernel_.name(); }
  std::optional<GeometryForm> geometry() const override { return kernel_.geometry(); }
  int nodes_per_axis() const override { return kernel_.nodes_per_axis(); }
  Index scratch_size() const override { return kernel_.scratch_size(); }
  void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v,
             Lanes<T>* scratch) const override {
    kernel_.apply(batch, u, v, scratch);
  }
  void diagonal(const CellBatch& batch, Lanes<T>* d, Lanes<T>* scratch) const override {
    kernel_.diagonal(batch, d, scratch);
  }
  double flops_per_cell() const override { return kernel_.flops_per_cell(); }
  Index bytes() const override { return kernel_.bytes(); }
  Index streamed_bytes() const override { return kernel_.streamed_bytes(); }

 private:
  Kernel kernel_;
};

/// A local kernel of any degree for MatrixFree, so that the operators that compute their factors
/// are one type a dimension: they spend their time in the kernel, not in gathering.
template <class T, int dim>
class AnyComputingKernel {
 public:
  using value_type = T;
  static constexpr int dimension = dim;
  static constexpr int degree = 0;
  static constexpr bool kTakesCells = true;

  explicit AnyComputingKernel(std::unique_ptr<const ComputingKernel<T>> kernel)
      : kernel_(std::move(kernel)) {}

  std::string_view name() const { return kernel_->name(); }
  std::optional<GeometryForm> geometry() const { return kernel_->geometry(); }
  int nodes_per_axis() const { return kernel_->nodes_per_axis(); }
  Index scratch_size() const { return kernel_->scratch_size(); }
  void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v, Lanes<T>* scratch) const {
    kernel_->apply(batch, u, v, scratch);
  }
  void diagonal(const CellBatch& batch, Lanes<T>* d, Lanes<T>* scratch) const {
    kernel_->diagonal(batch, d, scratch);
  }
  double flops_per_cell() const { return kernel_->flops_per_cell(); }
  Index bytes() const { return kernel_->bytes(); }
  Index streamed_bytes() const { return kernel_->streamed_bytes(); }

 private:
  std::unique_ptr<const ComputingKernel<T>> kernel_;
};

/// Calls make(kernel) with the kernel type for this basis, which is given the factors or what
/// computes them: tries degrees P, P - 1, ... 1.
template <class T, int dim, int P = kMaxFastDegree, class Factors, class Make>
auto with_tensor_kernel(const Basis1D& basis, Factors factors, Make&& make) {
  if constexpr (P == 0) {
    return make(TensorKernel<T, dim, 0, 0>(basis, std::move(factors)));
  } else {
    if (basis.degree == P && basis.point_count() == P + 1) {
      return make(TensorKernel<T, dim, P, P + 1>(basis, std::move(factors)));
    }
    if (basis.degree == P && basis.point_count() == P + 2) {
      return make(TensorKernel<T, dim, P, P + 2>(basis, std::move(factors)));
    }
    return with_tensor_kernel<T, dim, P - 1>(basis, std::move(factors), std::forward<Make>(make));
  }
}

template <class T, int dim>
std::unique_ptr<LinearOperator<T, Host>> TensorInstances<T, dim>::make_operator(
    const BilinearForm& form, std::shared_ptr<const CellBatches> batches,
    std::unique_ptr<Scatter<T>> scatter) {
  const Discretization& discretization = *form.discretization;
  using Result = std::unique_ptr<LinearOperator<T, Host>>;
  if (form.geometry == GeometryForm::on_the_fly) {
    return with_tensor_kernel<T, dim>(
        discretization.basis, make_batch_geometry<T>(form, *batches),
        [&]<class Kernel>(Kernel kernel) -> Result {
          using Computing = AnyComputingKernel<T, dim>;
          return std::make_unique<MatrixFree<Computing>>(
              form, batches,
              Computing(std::make_unique<const ErasedComputingKernel<Kernel>>(std::move(kernel))),
              std::move(scatter));
        });
  }
  return with_tensor_kernel<T, dim>(
      discretization.basis,
      std::make_shared<const GeometricFactors<T>>(discretization, *batches, form.coefficient),
      [&]<class Kernel>(Kernel kernel) -> Result {
        return std::make_unique<MatrixFree<Kernel>>(form, batches, std::move(kernel),
                                                    std::move(scatter));
      });
}

template <class T, int dim>
std::unique_ptr<CellKernel<T>> TensorInstances<T, dim>::make_cell_kernel(
    const Discretization& discretization, std::shared_ptr<const GeometricFactors<T>> factors) {
  return with_tensor_kernel<T, dim>(
      discretization.basis, std::move(factors),
      []<class Kernel>(Kernel kernel) -> std::unique_ptr<CellKernel<T>> {
        return std::make_unique<ErasedKernel<Kernel>>(std::move(kernel));
      });
}

extern template struct TensorInstances<double, 2>;
extern template struct TensorInstances<double, 3>;
extern template struct TensorInstances<float, 2>;
extern template struct TensorInstances<float, 3>;

}  // namespace tessera
