// This file applies fast diagonalization on the GPU.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "operators/fast_diagonalization/cublas_products.hpp"
#include "operators/fast_diagonalization/fast_diagonalization.hpp"
#include "operators/fast_diagonalization/kernels.cuh"
#include "operators/fast_diagonalization/layout.hpp"

namespace tessera {
namespace {

dim3 grid_of(std::int64_t x, std::int64_t middle, std::int64_t outer) {
  constexpr std::int64_t kMax = 32768;
  return {blocks_for(x, kFoldThreads),
          static_cast<unsigned>(std::clamp<std::int64_t>(middle, 1, kMax)),
          static_cast<unsigned>(std::clamp<std::int64_t>(outer, 1, kMax))};
}

// The even or the odd modes of an axis: a square matrix with padded columns.
template <class T>
struct Part {
  std::int64_t place;         // of the first node and mode
  std::int64_t padded_place;  // the same in a padded row
  std::int64_t size;
  std::int64_t leading;
  const T* vectors;
};

enum class Padding { none, parts };

// Modes of an axis in GPU memory.
template <class T>
class DeviceAxis {
 public:
  DeviceAxis(const AxisModes& modes, Padding padding)
      : vectors_(squared(padded_rows(modes.even, sizeof(T))) +
                 squared(padded_rows(modes.odd, sizeof(T)))),
        eigenvalues_(padded_row(modes.size(), sizeof(T))) {
    std::vector<T> vectors(vectors_.size(), T{0});
    std::int64_t offset = 0;
    std::int64_t place = 0;
    std::int64_t padded_place = 0;
    for (const bool is_even : {true, false}) {
      const Index n = is_even ? modes.even : modes.odd;
      if (n == 0) continue;
      const std::vector<double>& columns = is_even ? modes.even_vectors : modes.odd_vectors;
      const std::int64_t leading = padded_rows(n, sizeof(T));
      parts_.push_back({place, padded_place, n, leading, vectors_.data() + offset});
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          vectors[offset + j * leading + i] = static_cast<T>(columns[j * n + i]);
        }
      }
      offset += leading * leading;
      place += n;
      padded_place += leading;
    }
    copy_to_device(vectors.data(), vectors_.bytes(), vectors_.data());
    set_eigenvalues(modes.eigenvalues, padding);
  }

  void set_eigenvalues(const std::vector<double>& values, Padding padding) {
    // 1 in the padding: what it is divided by must not be 0.
    std::vector<T> eigenvalues(eigenvalues_.size(), T{1});
    for (const Part<T>& part : parts_) {
      const std::int64_t at = padding == Padding::parts ? part.padded_place : part.place;
      for (std::int64_t j = 0; j < part.size; ++j) {
        eigenvalues[at + j] = static_cast<T>(values[part.place + j]);
      }
    }
    copy_to_device(eigenvalues.data(), eigenvalues_.bytes(), eigenvalues_.data());
  }

  const std::vector<Part<T>>& parts() const { return parts_; }
  const T* eigenvalues() const { return eigenvalues_.data(); }
  std::int64_t bytes() const { return vectors_.bytes() + eigenvalues_.bytes(); }

 private:
  static constexpr std::int64_t squared(std::int64_t n) { return n * n; }

  DeviceArray<T> vectors_;
  DeviceArray<T> eigenvalues_;
  std::vector<Part<T>> parts_;
};

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
        products_(kCublasWorkspace) {
    for (DeviceArray<T>& scratch : scratch_) zero_on_device(scratch.data(), scratch.bytes());
    add_faces(form.discretization->lattice, form.dirichlet);
    x_.set_eigenvalues(eigenvalues_.along_x(), Padding::parts);
  }

  std::int64_t size() const override { return size_; }

  void do_apply(const V& r, V& z) const override {
    if (entries() > 0 && layout_.x.size > 0) invert(r, z);
    if (faces_count_ == 0) return;
    constexpr unsigned kBlocks = 256;
    launch(copy_faces_kernel<T>,
           {"constrained rows of fast diagonalization", dim3(kBlocks, faces_count_), kFoldThreads},
           faces_, r.data(), z.data());
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
           scratch_[1].bytes() + products_.bytes();
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
    return layout;
  }

  std::int64_t entries() const {
    return static_cast<std::int64_t>(layout_.row) * layout_.middle.size * layout_.outer.size;
  }

  void add_faces(const NodeLattice& lattice, FaceSet dirichlet) {
    for (int face = 0; face < face_count(lattice.dimension()); ++face) {
      if (dirichlet[face]) faces_[faces_count_++] = face_nodes(lattice, face);
    }
  }

  template <FoldDirection direction>
  void fold(const T* in, T* out) const {
    const FoldLayout& g = layout_;
    const dim3 grid =
        grid_of(g.x.size - g.x.pairs, g.middle.size - g.middle.pairs, g.outer.size - g.outer.pairs);
    launch(fold_kernel<direction, T>, {"folding of fast diagonalization", grid, kFoldThreads}, g,
           in, out);
  }

  // V^T or V from the left, for all rows at a time. Padding has products with 0 only.
  void sweep_x(Direction direction, const T* in, T* out) const {
    const std::int64_t rows = static_cast<std::int64_t>(layout_.middle.size) * layout_.outer.size;
    for (const Part<T>& part : x_.parts()) {
      products_.multiply<T>({part.leading, rows, part.leading},
                            direction == Direction::to_modes ? Factor::transposed : Factor::plain,
                            {part.vectors, part.leading}, 0, Factor::plain,
                            {in + part.padded_place, layout_.row}, 0,
                            {out + part.padded_place, layout_.row}, 0);
    }
  }

  // V or V^T from the right: places of the axis are `stride` entries apart; `count` blocks.
  void sweep(const DeviceAxis<T>& axis, Direction direction, std::int64_t stride,
             std::int64_t block, std::int64_t count, const T* in, T* out) const {
    for (const Part<T>& part : axis.parts()) {
      products_.multiply<T>(
          {stride, part.size, part.size, count}, Factor::plain, {in + part.place * stride, stride},
          block, direction == Direction::to_modes ? Factor::plain : Factor::transposed,
          {part.vectors, part.leading}, 0, {out + part.place * stride, stride}, block);
    }
  }
  void sweep_middle(Direction direction, const T* in, T* out) const {
    const std::int64_t plane = static_cast<std::int64_t>(layout_.row) * layout_.middle.size;
    sweep(middle_, direction, layout_.row, plane, layout_.outer.size, in, out);
  }
  void sweep_outer(Direction direction, const T* in, T* out) const {
    const std::int64_t plane = static_cast<std::int64_t>(layout_.row) * layout_.middle.size;
    sweep(outer_, direction, plane, plane * layout_.outer.size, 1, in, out);
  }

  void invert(const V& r, V& z) const {
    T* from = scratch_[0].data();
    T* to = scratch_[1].data();
    const auto next = [&] { std::swap(from, to); };
    fold<FoldDirection::fold>(r.data(), from);
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
           {"scaling of fast diagonalization", grid_of(g.row, g.middle.size, g.outer.size),
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
    fold<FoldDirection::unfold>(from, z.data());
  }

  std::int64_t size_;
  bool has_middle_;
  Exactness exactness_;
  ShiftedEigenvalues eigenvalues_;
  DeviceAxis<T> x_;
  DeviceAxis<T> middle_;
  DeviceAxis<T> outer_;
  FoldLayout layout_;
  mutable DeviceArray<T> scratch_[2];
  CublasProducts products_;
  std::array<FaceNodes, 6> faces_{};
  unsigned faces_count_ = 0;
};

}  // namespace

#define TESSERA_MAKE_FAST_DIAGONALIZATION(T)                                                       \
  template <>                                                                                      \
  std::unique_ptr<FastDiagonalization<T, Device>> make_fast_diagonalization(                       \
      const BilinearForm& form) {                                                                  \
    const NearestSeparable separable = make_nearest_separable(form);                               \
    return std::make_unique<DeviceFastDiagonalization<T>>(form, separable, axis_roles(separable)); \
  }
TESSERA_MAKE_FAST_DIAGONALIZATION(double)
TESSERA_MAKE_FAST_DIAGONALIZATION(float)
#undef TESSERA_MAKE_FAST_DIAGONALIZATION

}  // namespace tessera
