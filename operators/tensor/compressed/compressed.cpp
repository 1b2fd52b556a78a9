// This file has the tensor kernel with compressed factors.
#include "operators/tensor/compressed/compressed.hpp"

#include <limits>
#include <stdexcept>

#include "operators/tensor/compressed/arguments.hpp"
#include "operators/tensor/compressed/factors.hpp"
#include "operators/tensor/compressed/launch.hpp"
#include "operators/tensor/gpu/general_diagonal.hpp"
#include "operators/tensor/sweeps/sweep_flops.hpp"
#include "solvers/check.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

template <class T>
class CompressedKernel final : public DeviceCellKernel<T>, public Updatable {
 public:
  explicit CompressedKernel(const BilinearForm& form)
      : form_(form),
        grid_(make_cell_grid(form)),
        points_(form.discretization->basis.point_count()),
        factors_(form, compressed_layout(grid_.degree, points_, sizeof(T))),
        launch_(make_compressed_launch<T>(form.discretization->basis, factors_.bits())),
        any_size_(form) {
    if (launch_ == nullptr) {
      throw UnsuitableChoice(Choice::factors,
                             "no kernel on compressed factors for this degree and rule");
    }
    if (all_cells(grid_).size() > std::numeric_limits<unsigned>::max()) {
      throw UnsuitableChoice(
          Choice::factors,
          "compressed factors are for less than 2^32 cells; use \"stored\" or \"on-the-fly\"");
    }
  }

  std::string_view name() const override { return "tensor"; }
  std::optional<FactorStorage> factor_storage() const override { return FactorStorage::compressed; }
  std::string why_no_patches() const override {
    return "the tensor kernel with compressed factors has no patches";
  }

  void apply(const CellRange& range, const CellSource<T>& source,
             const CellSink<T>& sink) const override {
    TESSERA_CHECK(sink.kind != SinkKind::patch);
    (*launch_)({grid_, range, source, sink, factors_.data(), factors_.reaction()});
  }

  void add_diagonal(const std::vector<CellRange>& colors, T* d) const override {
    add_general_diagonal(form_, grid_, any_size_, colors, d);
  }

  Updated update(const BilinearForm& form) override {
    if (factors_.update(form, compressed_layout(grid_.degree, points_, sizeof(T))) == Updated::no) {
      return Updated::no;
    }
    form_ = form;
    return Updated::yes;
  }

  double flops_per_cell() const override {
    const int n = grid_.degree + 1;
    const int m = points_;
    const double at_points = (6.0 + 15.0) * m * m * m;  // the factors' offsets, and the factors
    const bool by_planes =
        compressed_layout(grid_.degree, points_, sizeof(T)).part == ThreadPart::plane;
    return at_points + (by_planes ? whole_matrix_flops(3, n, m)
                                  : line_sweep_flops(compressed_line_sweep<T>(m), n, m));
  }

  Index bytes() const override { return factors_.bytes() + any_size_.bytes(); }
  Index streamed_bytes() const override { return factors_.bytes(); }

 private:
  BilinearForm form_;
  CellGrid grid_;
  int points_;
  DeviceCompressedFactors<T> factors_;
  std::unique_ptr<CompressedLaunch<T>> launch_;
  TensorAnySize<T> any_size_;
};

}  // namespace

template <class T>
std::unique_ptr<DeviceCellKernel<T>> make_compressed_kernel(const BilinearForm& form) {
  return std::make_unique<CompressedKernel<T>>(form);
}

template std::unique_ptr<DeviceCellKernel<double>> make_compressed_kernel(const BilinearForm&);
template std::unique_ptr<DeviceCellKernel<float>> make_compressed_kernel(const BilinearForm&);

}  // namespace tessera
