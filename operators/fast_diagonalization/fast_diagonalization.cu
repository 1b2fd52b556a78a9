// This file applies fast diagonalization on the GPU.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "operators/fast_diagonalization/device_modes.cuh"
#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/fast_diagonalization/kernels.cuh"
#include "operators/fast_diagonalization/layout.hpp"
#include "operators/fast_diagonalization/on_ranks.hpp"

namespace tessera {
namespace {

/// Stages, with n_m and n_o free nodes along the middle and the outer axis and a padded row of R
/// entries (64 bytes and up; even places, padding, odd places, padding):
///   r [nodes] -> fold -> [n_o][n_m][R] -> V_x^T -> V_m^T -> V_o^T -> scale -> V_o -> V_m -> V_x
///   -> unfold -> z [nodes]
/// A sweep is one product for each part of its axis, along the middle axis one for each plane and
/// part: 12 n flops a DoF, half of that where axes are folded, and 16 bytes a DoF for each of 9
/// stages in double precision. Padding is 0 throughout. Deterministic.
template <class T>
class DeviceFastDiagonalization final : public FastDiagonalization<T, Device> {
 public:
  using V = DeviceVector<T>;

  DeviceFastDiagonalization(const BilinearForm& form, const NearestSeparable& separable,
                            const AxisRoles<AxisModes>& modes)
      : size_(form.discretization->lattice.size()),
        has_middle_(separable.dimension == 3),
        exactness_(separable.exactness),
        eigenvalues_(form, separable, modes),
        x_(modes.x, Padding::parts),
        middle_(modes.middle, Padding::none),
        outer_(modes.outer, Padding::none),
        layout_(layout_of(form.discretization->lattice, modes)),
        scratch_{DeviceArray<T>(entries()), DeviceArray<T>(entries())},
        faces_(form.discretization->lattice, form.dirichlet) {
    for (DeviceArray<T>& scratch : scratch_) zero_on_device(scratch.data(), scratch.bytes());
    x_.set_eigenvalues(eigenvalues_.along_x(), Padding::parts);
  }

  std::int64_t size() const override { return size_; }

  void do_apply(const V& r, V& z) const override {
    if (entries() > 0 && layout_.x.size > 0) invert(r, z);
    faces_.copy(r.data(), z.data());
  }

  Exactness exactness() const override { return exactness_; }
  std::array<double, 2> eigenvalue_range() const override { return eigenvalues_.range(); }
  Updated update(const BilinearForm& form) override {
    if (eigenvalues_.update(form) == Updated::no) return Updated::no;
    x_.set_eigenvalues(eigenvalues_.along_x(), Padding::parts);
    return Updated::yes;
  }
  std::int64_t bytes() const override {
    return x_.bytes() + middle_.bytes() + outer_.bytes() + scratch_[0].bytes() +
           scratch_[1].bytes();
  }

 private:
  static FoldLayout layout_of(const NodeLattice& lattice, const AxisRoles<AxisModes>& modes) {
    const auto swept = [](const AxisModes& axis, std::int64_t stride) {
      return SweptAxis{stride, static_cast<int>(axis.size()), static_cast<int>(axis.odd)};
    };
    // In 2D the middle axis has one node, so that its stride does not matter.
    const std::int64_t row = lattice.stride(1);
    const std::int64_t plane = lattice.stride(lattice.dimension() - 1);
    FoldLayout layout{};
    layout.x = swept(modes.x, 1);
    layout.middle = swept(modes.middle, row);
    layout.outer = swept(modes.outer, plane);
    layout.first =
        modes.x.first_free + modes.middle.first_free * row + modes.outer.first_free * plane;
    layout.even = static_cast<int>(modes.x.even);
    layout.odd_start = static_cast<int>(padded_rows(modes.x.even, sizeof(T)));
    layout.row = static_cast<int>(padded_row(modes.x.size(), sizeof(T)));
    layout.middle_step = layout.row;
    layout.outer_step = layout.middle_step * layout.middle.size;
    return layout;
  }

  std::int64_t entries() const {
    return static_cast<std::int64_t>(layout_.row) * layout_.middle.size * layout_.outer.size;
  }

  // For all rows at a time.
  void sweep_x(Direction direction, const T* in, T* out) const {
    const std::int64_t rows = static_cast<std::int64_t>(layout_.middle.size) * layout_.outer.size;
    x_.sweep_rows(device_stream(), direction, layout_.row, rows, in, out);
  }
  void sweep_middle(Direction direction, const T* in, T* out) const {
    middle_.sweep(device_stream(), direction, layout_.row, layout_.outer_step, layout_.outer.size,
                  in, out);
  }
  void sweep_outer(Direction direction, const T* in, T* out) const {
    const std::int64_t plane = layout_.outer_step;
    outer_.sweep(device_stream(), direction, plane, plane * layout_.outer.size, 1, in, out);
  }

  void invert(const V& r, V& z) const {
    T* from = scratch_[0].data();
    T* to = scratch_[1].data();
    const auto next = [&] { std::swap(from, to); };
    fold<FoldDirection::fold>(layout_, r.data(), from);
    sweep_x(Direction::to_modes, from, to);
    next();
    if (has_middle_) {
      sweep_middle(Direction::to_modes, from, to);
      next();
    }
    sweep_outer(Direction::to_modes, from, to);
    next();
    const FoldLayout& g = layout_;
    launch(scale_kernel<T>,
           {"scaling of fast diagonalization", fold_grid(g.row, g.middle.size, g.outer.size),
            kFoldThreads},
           g.row, g.middle.size, g.outer.size, x_.eigenvalues(), middle_.eigenvalues(),
           outer_.eigenvalues(), from);
    sweep_outer(Direction::to_nodes, from, to);
    next();
    if (has_middle_) {
      sweep_middle(Direction::to_nodes, from, to);
      next();
    }
    sweep_x(Direction::to_nodes, from, to);
    next();
    fold<FoldDirection::unfold>(layout_, from, z.data());
  }

  std::int64_t size_;
  bool has_middle_;
  Exactness exactness_;
  ShiftedEigenvalues eigenvalues_;
  DeviceModes<T> x_;
  DeviceModes<T> middle_;
  DeviceModes<T> outer_;
  FoldLayout layout_;
  mutable DeviceArray<T> scratch_[2];
  KeptFaces faces_;
};

}  // namespace

#define TESSERA_MAKE_FAST_DIAGONALIZATION(T)                                                       \
  template <>                                                                                      \
  std::unique_ptr<FastDiagonalization<T, Device>> make_fast_diagonalization(                       \
      const BilinearForm& form) {                                                                  \
    const NearestSeparable separable = make_nearest_separable(form);                               \
    if (form.part != nullptr) {                                                                    \
      return make_fast_diagonalization_on_ranks<T, Device>(form, separable);                       \
    }                                                                                              \
    return std::make_unique<DeviceFastDiagonalization<T>>(form, separable, axis_roles(separable)); \
  }
TESSERA_MAKE_FAST_DIAGONALIZATION(double)
TESSERA_MAKE_FAST_DIAGONALIZATION(float)
#undef TESSERA_MAKE_FAST_DIAGONALIZATION

}  // namespace tessera
