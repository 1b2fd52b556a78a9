// This file applies fast diagonalization on the host, panel by panel.
#include "operators/fast_diagonalization/fast_diagonalization.hpp"

#include <omp.h>

#include <algorithm>

#include "mesh/first_failure.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"
#include "operators/fast_diagonalization/axis_modes.hpp"
#include "operators/fast_diagonalization/folding.hpp"
#include "operators/fast_diagonalization/host_axis.hpp"
#include "operators/fast_diagonalization/layout.hpp"
#include "operators/fast_diagonalization/on_ranks.hpp"
#include "operators/form/constrained_rows.hpp"

namespace tessera {
namespace {

// Products have at least about so many rows and columns.
constexpr Index kPanel = 128;
constexpr Index kColumns = 64;

// Pairs of planes that are swept along x at a time.
Index pairs_together(Index middle, Index outer) {
  return std::min(ceil_div(kColumns / 2, middle), ceil_div(outer, 2));
}

// Places of a plane that are swept along the outer axis at a time: a part of a row, or whole rows.
struct PanelShape {
  Index width;
  Index rows;

  Index size() const { return width * rows; }
};

PanelShape panel_shape(Index x, Index middle) {
  const Index width = x <= kPanel ? x : ceil_div(x, ceil_div(x, kPanel));
  return {width, width < x ? 1 : std::min(middle, ceil_div(kPanel, x))};
}

// Values of scratch of a thread: twice what is swept at a time, in whole cache lines: products of
// few entries depend on the alignment, and all threads are to have the same bits.
Index scratch_values(const IndexTriple& free) {
  const Index planes = 2 * pairs_together(free[1], free[2]) * free[0] * free[1];
  constexpr Index kLine = 16;
  const Index values = std::max(planes, panel_shape(free[0], free[1]).size() * free[2]);
  return 2 * kLine * ceil_div(values, kLine);
}

/// Stages, with n_x n_m n_o free nodes along x, the middle and the outer axis; in 2D the middle one
/// has one node and y is the outer one. A thread has two buffers:
///   r [o][m][x] -> fold -> pairs of planes [m][x] -> V_x^T, V_m^T -> z [o][m][x], in place of
///   nodes z -> panels [o][places] -> V_o^T -> scale -> V_o -> z z -> pairs of planes [m][x] ->
///   V_m, V_x -> unfold -> z
/// 12 n flops a DoF, half of that where axes are folded; r is read once, z written three times and
/// read twice.
template <class T>
class HostFastDiagonalization final : public FastDiagonalization<T, Host> {
 public:
  using V = HostVector<T>;

  HostFastDiagonalization(const BilinearForm& form, const NearestSeparable& separable,
                          const AxisRoles<AxisModes>& modes)
      : lattice_(form.discretization->lattice),
        dirichlet_(form.dirichlet),
        has_middle_(lattice_.dimension() == 3),
        exactness_(separable.exactness),
        eigenvalues_(form, separable, modes),
        x_(modes.x),
        middle_(modes.middle),
        outer_(modes.outer),
        row_stride_(lattice_.stride(1)),
        plane_stride_(lattice_.stride(lattice_.dimension() - 1)),
        threads_(omp_get_max_threads()),
        scratch_values_(is_empty() ? 0
                                   : scratch_values({x_.size(), middle_.size(), outer_.size()})),
        scratch_(threads_ * scratch_values_) {
    x_.set_eigenvalues(eigenvalues_.along_x());
  }

  Index size() const override { return lattice_.size(); }

  void do_apply(const V& r, V& z) const override {
    if (!is_empty()) {
      // Products of Eigen may ask for memory of their own.
      FirstFailure failure;
#pragma omp parallel num_threads(threads_)
      {
        T* const one = scratch_.data() + omp_get_thread_num() * scratch_values_;
        T* const two = one + scratch_values_ / 2;
        const Index pairs = ceil_div(outer_.size(), 2);
        const Index together = pairs_together(middle_.size(), outer_.size());
#pragma omp for schedule(dynamic)
        for (Index k = 0; k < pairs; k += together) {
          const Range range{k, std::min(k + together, pairs)};
          failure.guard(k, [&] { planes_to_modes(range, r.data(), z.data(), one, two); });
        }
        const PanelShape panel = panel_shape(x_.size(), middle_.size());
#pragma omp for schedule(dynamic) collapse(2)
        for (Index m = 0; m < middle_.size(); m += panel.rows) {
          for (Index i = 0; i < x_.size(); i += panel.width) {
            failure.guard(i, [&] { sweep_panel(panel, i, m, z.data(), one, two); });
          }
        }
#pragma omp for schedule(dynamic)
        for (Index k = 0; k < pairs; k += together) {
          const Range range{k, std::min(k + together, pairs)};
          failure.guard(k, [&] { planes_to_nodes(range, z.data(), one, two); });
        }
      }
      failure.rethrow();
    }
    for_each_face_node(lattice_, dirichlet_, [&](Index node) { z[node] = r[node]; });
  }

  Exactness exactness() const override { return exactness_; }
  std::array<double, 2> eigenvalue_range() const override { return eigenvalues_.range(); }
  Updated update(const BilinearForm& form) override {
    if (eigenvalues_.update(form) == Updated::no) return Updated::no;
    x_.set_eigenvalues(eigenvalues_.along_x());
    return Updated::yes;
  }
  std::int64_t bytes() const override {
    return x_.bytes() + middle_.bytes() + outer_.bytes() +
           static_cast<Index>(scratch_.size() * sizeof(T));
  }

 private:
  bool is_empty() const { return x_.size() * middle_.size() * outer_.size() == 0; }
  Index row(Index m, Index o) const {
    return x_.first() + (middle_.first() + m) * row_stride_ + (outer_.first() + o) * plane_stride_;
  }
  Index plane_size() const { return x_.size() * middle_.size(); }

  // f(slot, k) for the planes of these pairs, slot by slot: k and n_o - 1 - k, or the middle one.
  template <class F>
  void for_each_plane(Range pairs, F f) const {
    Index slot = 0;
    for (Index k = pairs.begin; k < pairs.end; ++k) {
      f(slot++, k);
      if (outer_.size() - 1 - k != k) f(slot++, outer_.size() - 1 - k);
    }
  }

  Index plane_count(Range pairs) const {
    return 2 * pairs.size() - (2 * pairs.end > outer_.size() ? 1 : 0);
  }

  // Sums and differences of mirrored planes, or copies where there is nothing to fold.
  void load_folded(Range pairs, const T* r, T* planes) const {
    const Index n = x_.size();
    for (Index k = pairs.begin; k < pairs.end; ++k) {
      const Index mirror = outer_.size() - 1 - k;
      T* const first = planes + 2 * (k - pairs.begin) * plane_size();
      T* const second = first + plane_size();
      for (Index m = 0; m < middle_.size(); ++m) {
        const T* const from = r + row(m, k);
        if (mirror == k) {
          std::copy_n(from, n, first + m * n);
        } else if (outer_.is_folded()) {
          butterfly(n, from, r + row(m, mirror), first + m * n, second + m * n);
        } else {
          std::copy_n(from, n, first + m * n);
          std::copy_n(r + row(m, mirror), n, second + m * n);
        }
      }
    }
  }

  void store_unfolded(Range pairs, const T* planes, T* z) const {
    const Index n = x_.size();
    for (Index k = pairs.begin; k < pairs.end; ++k) {
      const Index mirror = outer_.size() - 1 - k;
      const T* const first = planes + 2 * (k - pairs.begin) * plane_size();
      const T* const second = first + plane_size();
      for (Index m = 0; m < middle_.size(); ++m) {
        if (mirror == k) {
          std::copy_n(first + m * n, n, z + row(m, k));
        } else if (outer_.is_folded()) {
          butterfly(n, first + m * n, second + m * n, z + row(m, k), z + row(m, mirror));
        } else {
          std::copy_n(first + m * n, n, z + row(m, k));
          std::copy_n(second + m * n, n, z + row(m, mirror));
        }
      }
    }
  }

  void planes_to_modes(Range pairs, const T* r, T* z, T* one, T* two) const {
    load_folded(pairs, r, one);
    const Index planes = plane_count(pairs);
    for (Index slot = 0; slot < planes; ++slot) fold_plane(x_, middle_, one + slot * plane_size());
    x_.sweep_columns(Direction::to_modes, planes * middle_.size(), one, two);
    for_each_plane(pairs, [&](Index slot, Index k) {
      const T* plane = two + slot * plane_size();
      if (has_middle_) {
        T* const swept = one + slot * plane_size();
        middle_.sweep_rows(Direction::to_modes, x_.size(), plane, swept);
        plane = swept;
      }
      for (Index m = 0; m < middle_.size(); ++m) {
        std::copy_n(plane + m * x_.size(), x_.size(), z + row(m, k));
      }
    });
  }

  void planes_to_nodes(Range pairs, T* z, T* one, T* two) const {
    for_each_plane(pairs, [&](Index slot, Index k) {
      T* const plane = two + slot * plane_size();
      T* const from = has_middle_ ? one + slot * plane_size() : plane;
      for (Index m = 0; m < middle_.size(); ++m) {
        std::copy_n(z + row(m, k), x_.size(), from + m * x_.size());
      }
      if (from != plane) middle_.sweep_rows(Direction::to_nodes, x_.size(), from, plane);
    });
    const Index planes = plane_count(pairs);
    x_.sweep_columns(Direction::to_nodes, planes * middle_.size(), two, one);
    for (Index slot = 0; slot < planes; ++slot) fold_plane(x_, middle_, one + slot * plane_size());
    store_unfolded(pairs, one, z);
  }

  void sweep_panel(PanelShape shape, Index i, Index m, T* z, T* one, T* two) const {
    const Index width = std::min(shape.width, x_.size() - i);
    const Index rows = std::min(shape.rows, middle_.size() - m);
    const Index size = width * rows;
    for (Index o = 0; o < outer_.size(); ++o) {
      for (Index j = 0; j < rows; ++j) {
        std::copy_n(z + row(m + j, o) + i, width, one + o * size + j * width);
      }
    }
    outer_.sweep_rows(Direction::to_modes, size, one, two);
    for (Index o = 0; o < outer_.size(); ++o) {
      for (Index j = 0; j < rows; ++j) {
        T* const values = two + o * size + j * width;
        const T* const along_x = x_.eigenvalues() + i;
        const T along_middle = middle_.eigenvalues()[m + j];
        const T along_outer = outer_.eigenvalues()[o];
        for (Index s = 0; s < width; ++s) {
          values[s] *= inverse_sum(along_x[s], along_middle, along_outer);
        }
      }
    }
    outer_.sweep_rows(Direction::to_nodes, size, two, one);
    for (Index o = 0; o < outer_.size(); ++o) {
      for (Index j = 0; j < rows; ++j) {
        std::copy_n(one + o * size + j * width, width, z + row(m + j, o) + i);
      }
    }
  }

  NodeLattice lattice_;
  FaceSet dirichlet_;
  bool has_middle_;
  Exactness exactness_;
  ShiftedEigenvalues eigenvalues_;
  HostAxis<T> x_;
  HostAxis<T> middle_;
  HostAxis<T> outer_;
  Index row_stride_;
  Index plane_stride_;
  int threads_;
  Index scratch_values_;  // of a thread
  mutable HostArray<T> scratch_;
};

}  // namespace

Index fast_diagonalization_bytes(const NodeLattice& lattice, FaceSet dirichlet,
                                 const std::array<AxisSymmetry, 3>& symmetry, Index value_bytes,
                                 Processor processor) {
  const IndexTriple free = free_nodes_by_role(lattice, dirichlet);
  const std::array<AxisSymmetry, 3> by_role = symmetry_by_role(symmetry, lattice.dimension());
  if (processor == Processor::gpu) {
    return device_fast_diagonalization_bytes(free, by_role, value_bytes);
  }
  Saturated values = 0;
  for (int role = 0; role < 3; ++role) {
    const auto [even, odd] = mode_counts(free[role], by_role[role]);
    values += Saturated(even) * even + Saturated(odd) * odd + free[role];
  }
  if (free[0] * free[1] * free[2] > 0) {
    values += Saturated(scratch_values(free)) * omp_get_max_threads();
  }
  return values * value_bytes;
}

#define TESSERA_MAKE_FAST_DIAGONALIZATION(T)                                                       \
  template <>                                                                                      \
  std::unique_ptr<FastDiagonalization<T, Host>> make_fast_diagonalization(                         \
      const BilinearForm& form) {                                                                  \
    const NearestSeparable separable = make_nearest_separable(form);                               \
    if (form.part != nullptr) return make_fast_diagonalization_on_ranks<T, Host>(form, separable); \
    return std::make_unique<HostFastDiagonalization<T>>(form, separable, axis_roles(separable));   \
  }
TESSERA_MAKE_FAST_DIAGONALIZATION(double)
TESSERA_MAKE_FAST_DIAGONALIZATION(float)
#undef TESSERA_MAKE_FAST_DIAGONALIZATION

}  // namespace tessera
