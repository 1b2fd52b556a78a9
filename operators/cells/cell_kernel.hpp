// Local kernels on the host: what MatrixFree asks of one, and any of them behind virtual calls.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/cells/cell_kernel_limits.hpp"
#include "operators/form/factor_storage.hpp"

namespace tessera {

/// A local kernel behind virtual calls: where its time is little beside that of the calls' work, or
/// is spent in setup.
template <class T>
class CellKernel {
 public:
  virtual ~CellKernel() = default;

  virtual std::string_view name() const = 0;
  /// How it stores general geometric factors; nothing where that is no choice.
  virtual std::optional<FactorStorage> factor_storage() const = 0;
  virtual int nodes_per_axis() const = 0;
  /// Lanes<T> values that apply() and diagonal() need as scratch.
  virtual Index scratch_size() const = 0;
  /// v[i] = sum_j K_c[i][j] u[j] for the cells of a batch.
  virtual void apply(const CellBatch& batch, const Lanes<T>* u, Lanes<T>* v,
                     Lanes<T>* scratch) const = 0;
  /// d[i] = K_c[i][i].
  virtual void diagonal(const CellBatch& batch, Lanes<T>* d, Lanes<T>* scratch) const = 0;
  virtual double flops_per_cell() const = 0;
  virtual Index bytes() const = 0;
  /// What an application reads beside x.
  virtual Index streamed_bytes() const = 0;
};

/// A concrete local kernel as a CellKernel.
template <class Kernel>
class ErasedKernel final : public CellKernel<typename Kernel::value_type> {
 public:
  using T = typename Kernel::value_type;

  explicit ErasedKernel(Kernel kernel) : kernel_(std::move(kernel)) {}

  std::string_view name() const override { return kernel_.name(); }
  std::optional<FactorStorage> factor_storage() const override { return kernel_.factor_storage(); }
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

/// A CellKernel of any degree for MatrixFree, so that operators whose kernels compute much are one
/// type per dimension: they spend their time in the kernel, not in gathering.
template <class T, int dim>
class AnyCellKernel {
 public:
  using value_type = T;
  static constexpr int dimension = dim;
  static constexpr int degree = 0;
  static constexpr bool kTakesCells = true;

  explicit AnyCellKernel(std::unique_ptr<const CellKernel<T>> kernel)
      : kernel_(std::move(kernel)) {}

  std::string_view name() const { return kernel_->name(); }
  std::optional<FactorStorage> factor_storage() const { return kernel_->factor_storage(); }
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
  std::unique_ptr<const CellKernel<T>> kernel_;
};

}  // namespace tessera
