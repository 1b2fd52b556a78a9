// This file applies fast diagonalization on ranks: by planes, then by lines, then by planes.
#include "operators/fast_diagonalization/on_ranks.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "mesh/first_failure.hpp"
#include "mesh/saturated.hpp"
#include "operators/fast_diagonalization/device_lines.hpp"
#include "operators/fast_diagonalization/folding.hpp"
#include "operators/fast_diagonalization/host_axis.hpp"
#include "operators/fast_diagonalization/layout.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/on_all_ranks.hpp"

namespace tessera {
namespace {

// Products have at least about so many columns or rows.
constexpr Index kColumns = 64;
constexpr Index kPanel = 128;

// Planes that are swept at a time.
Index planes_together(Index middle) { return ceil_div(kColumns, std::max<Index>(middle, 1)); }

// Values of scratch of a thread: twice what is swept at a time, in whole cache lines.
Index scratch_values(const IndexTriple& free) {
  constexpr Index kLine = 16;
  const Index planes = planes_together(free[1]) * free[0] * free[1];
  return 2 * kLine * ceil_div(std::max(planes, kPanel * free[2]), kLine);
}

template <class T>
class FastDiagonalizationOnRanks final : public FastDiagonalization<T, Host> {
 public:
  using V = HostVector<T>;

  FastDiagonalizationOnRanks(const BilinearForm& form, const NearestSeparable& separable,
                             const AxisRoles<AxisModes>& modes, const InverseBoxes& boxes)
      : part_(form.part->rank),
        dirichlet_(form.dirichlet),
        has_middle_(separable.dimension == 3),
        outer_axis_(separable.dimension - 1),
        exactness_(separable.exactness),
        eigenvalues_(form, separable, modes),
        x_(modes.x),
        middle_(modes.middle),
        outer_(modes.outer),
        free_(free_box(modes, separable.dimension)),
        planes_box_(boxes.planes[mine()]),
        lines_box_(boxes.lines[mine()]),
        in_vector_(places_in(part_->nodes(), part_->partition().cells(part_->ranks().rank()),
                             form.discretization->basis.degree)),
        to_planes_(part_->ranks(), boxes.owned, boxes.planes),
        to_lines_(part_->ranks(), boxes.planes, boxes.lines),
        from_lines_(part_->ranks(), boxes.lines, boxes.planes),
        to_part_(part_->ranks(), boxes.planes, boxes.part),
        planes_(static_cast<std::size_t>(planes_box_.size()), T{}),
        lines_(static_cast<std::size_t>(lines_box_.size()), T{}),
        threads_(omp_get_max_threads()),
        scratch_values_(scratch_values({x_.size(), middle_.size(), outer_.size()})),
        scratch_(static_cast<std::size_t>(threads_ * scratch_values_)) {
    x_.set_eigenvalues(eigenvalues_.along_x());
  }

  Index size() const override { return part_->nodes().lattice().size(); }

  void do_apply(const V& r, V& z) const override {
    const BoxPlaces plane_places = packed(planes_box_);
    const BoxPlaces line_places = packed(lines_box_);
    to_planes_.run(r.data(), in_vector_, planes_.data(), plane_places);
    for_each_chunk([&](Index count, T* planes, T* one) { to_modes(count, planes, one); });
    to_lines_.run(planes_.data(), plane_places, lines_.data(), line_places);
    sweep_lines();
    from_lines_.run(lines_.data(), line_places, planes_.data(), plane_places);
    for_each_chunk([&](Index count, T* planes, T* one) { to_nodes(count, planes, one); });
    to_part_.run(planes_.data(), plane_places, z.data(), in_vector_);
    for_each_face_node(part_->nodes().lattice(), dirichlet_,
                       [&](Index node) { z[node] = r[node]; });
  }

  Exactness exactness() const override { return exactness_; }
  std::array<double, 2> eigenvalue_range() const override { return eigenvalues_.range(); }
  Updated update(const BilinearForm& form) override {
    if (eigenvalues_.update(form) == Updated::no) return Updated::no;
    x_.set_eigenvalues(eigenvalues_.along_x());
    return Updated::yes;
  }
  std::int64_t bytes() const override {
    return x_.bytes() + middle_.bytes() + outer_.bytes() + to_planes_.bytes() + to_lines_.bytes() +
           from_lines_.bytes() + to_part_.bytes() +
           static_cast<Index>((planes_.size() + lines_.size() + scratch_.size()) * sizeof(T));
  }

 private:
  std::size_t mine() const { return static_cast<std::size_t>(part_->ranks().rank()); }
  Index plane_size() const { return x_.size() * middle_.size(); }

  // f(count, planes, scratch) for a few planes at a time.
  template <class F>
  void for_each_chunk(F f) const {
    const Index count = planes_box_.extent(outer_axis_);
    const Index together = planes_together(middle_.size());
    // Products of Eigen may ask for memory of their own.
    FirstFailure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
    for (Index k = 0; k < count; k += together) {
      T* const scratch = scratch_.data() + omp_get_thread_num() * scratch_values_;
      failure.guard(
          k, [&] { f(std::min(together, count - k), planes_.data() + k * plane_size(), scratch); });
    }
    failure.rethrow();
  }

  void to_modes(Index count, T* planes, T* one) const {
    for (Index k = 0; k < count; ++k) fold_plane(x_, middle_, planes + k * plane_size());
    x_.sweep_columns(Direction::to_modes, count * middle_.size(), planes, one);
    if (!has_middle_) {
      std::copy_n(one, count * plane_size(), planes);
      return;
    }
    for (Index k = 0; k < count; ++k) {
      middle_.sweep_rows(Direction::to_modes, x_.size(), one + k * plane_size(),
                         planes + k * plane_size());
    }
  }

  void to_nodes(Index count, T* planes, T* one) const {
    if (has_middle_) {
      for (Index k = 0; k < count; ++k) {
        middle_.sweep_rows(Direction::to_nodes, x_.size(), planes + k * plane_size(),
                           one + k * plane_size());
      }
    } else {
      std::copy_n(planes, count * plane_size(), one);
    }
    x_.sweep_columns(Direction::to_nodes, count * middle_.size(), one, planes);
    for (Index k = 0; k < count; ++k) fold_plane(x_, middle_, planes + k * plane_size());
  }

  // Places of a plane of lines.
  Index place_count() const {
    return lines_box_.extent(0) * (has_middle_ ? lines_box_.extent(1) : 1);
  }

  void sweep_lines() const {
    const Index places = place_count();
    FirstFailure failure;
#pragma omp parallel for schedule(dynamic) num_threads(threads_)
    for (Index s = 0; s < places; s += kPanel) {
      T* const one = scratch_.data() + omp_get_thread_num() * scratch_values_;
      failure.guard(
          s, [&] { sweep_panel(s, std::min(kPanel, places - s), one, one + scratch_values_ / 2); });
    }
    failure.rethrow();
  }

  void fold_panel(Index width, T* panel) const {
    if (!outer_.is_folded()) return;
    const Index last = outer_.size() - 1;
    for (Index o = 0; o < outer_.size() / 2; ++o) {
      butterfly(width, panel + o * width, panel + (last - o) * width);
    }
  }

  void sweep_panel(Index s, Index width, T* one, T* two) const {
    const Index places = place_count();
    for (Index o = 0; o < outer_.size(); ++o) {
      std::copy_n(lines_.data() + o * places + s, width, one + o * width);
    }
    fold_panel(width, one);
    outer_.sweep_rows(Direction::to_modes, width, one, two);
    const Index row = lines_box_.extent(0);
    const T* const along_x = x_.eigenvalues() + (lines_box_.first[0] - free_.first[0]);
    const T* const along_middle =
        middle_.eigenvalues() + (has_middle_ ? lines_box_.first[1] - free_.first[1] : 0);
    for (Index o = 0; o < outer_.size(); ++o) {
      for (Index i = 0; i < width; ++i) {
        two[o * width + i] *= inverse_sum(along_x[(s + i) % row], along_middle[(s + i) / row],
                                          outer_.eigenvalues()[o]);
      }
    }
    outer_.sweep_rows(Direction::to_nodes, width, two, one);
    fold_panel(width, one);
    for (Index o = 0; o < outer_.size(); ++o) {
      std::copy_n(one + o * width, width, lines_.data() + o * places + s);
    }
  }

  std::shared_ptr<const RankPart> part_;
  FaceSet dirichlet_;
  bool has_middle_;
  int outer_axis_;
  Exactness exactness_;
  ShiftedEigenvalues eigenvalues_;
  HostAxis<T> x_;
  HostAxis<T> middle_;
  HostAxis<T> outer_;
  NodeBox free_;
  NodeBox planes_box_;
  NodeBox lines_box_;
  BoxPlaces in_vector_;
  BoxExchange<T> to_planes_;
  BoxExchange<T> to_lines_;
  BoxExchange<T> from_lines_;
  BoxExchange<T> to_part_;
  mutable HostArray<T> planes_;  // [outer][middle][x], the rank's planes
  mutable HostArray<T> lines_;   // [outer][middle][x], the rank's lines
  int threads_;
  Index scratch_values_;  // of a thread
  mutable HostArray<T> scratch_;
};

template <class T>
std::unique_ptr<FastDiagonalization<T, Host>> make_on_host(const BilinearForm& form,
                                                           const NearestSeparable& separable) {
  const AxisRoles<AxisModes> modes = shared_modes(form, separable);
  return on_all_ranks(form, [&] {
    const InverseBoxes boxes =
        inverse_boxes(form.part->rank->partition(), form.discretization->basis.degree,
                      free_box(modes, separable.dimension));
    return std::unique_ptr<FastDiagonalization<T, Host>>(
        std::make_unique<FastDiagonalizationOnRanks<T>>(form, separable, modes, boxes));
  });
}

}  // namespace

#define TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS(T)                               \
  template <>                                                                       \
  std::unique_ptr<FastDiagonalization<T, Host>> make_fast_diagonalization_on_ranks( \
      const BilinearForm& form, const NearestSeparable& separable) {                \
    return make_on_host<T>(form, separable);                                        \
  }
TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS(double)
TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS(float)
#undef TESSERA_MAKE_FAST_DIAGONALIZATION_ON_RANKS

namespace {

Index host_bytes(const NodeLattice& whole, FaceSet dirichlet,
                 const std::array<AxisSymmetry, 3>& symmetry, const InverseBoxes& boxes, int rank,
                 Index value_bytes) {
  const int dimension = whole.dimension();
  Saturated values = dimension == 2 ? 2 : 0;
  for (int d = 0; d < dimension; ++d) {
    const Index n = free_nodes(whole, dirichlet, d);
    const auto [even, odd] = mode_counts(n, symmetry[d]);
    values += Saturated(even) * even + Saturated(odd) * odd + n;
  }
  const auto mine = static_cast<std::size_t>(rank);
  values += Saturated(boxes.planes[mine].size()) + boxes.lines[mine].size();
  values += exchanged_values(rank, boxes.owned, boxes.planes);
  values += Saturated(exchanged_values(rank, boxes.planes, boxes.lines)) +
            exchanged_values(rank, boxes.lines, boxes.planes);
  values += exchanged_values(rank, boxes.planes, boxes.part);
  values += Saturated(scratch_values(free_nodes_by_role(whole, dirichlet))) * omp_get_max_threads();
  return values * value_bytes;
}

}  // namespace

Index rank_fast_diagonalization_bytes(const NodeLattice& whole, FaceSet dirichlet,
                                      const std::array<AxisSymmetry, 3>& symmetry,
                                      const BoxPartition& partition, int rank, Index value_bytes,
                                      Processor processor) {
  NodeBox free{{0, 0, 0}, {1, 1, 1}};
  for (int d = 0; d < whole.dimension(); ++d) {
    free.first[d] = dirichlet[2 * d] ? 1 : 0;
    free.end[d] = free.first[d] + free_nodes(whole, dirichlet, d);
  }
  const InverseBoxes boxes = inverse_boxes(partition, whole.degree(), free);
  if (processor == Processor::cpu) {
    return host_bytes(whole, dirichlet, symmetry, boxes, rank, value_bytes);
  }
  return device_rank_bytes(free_nodes_by_role(whole, dirichlet),
                           symmetry_by_role(symmetry, whole.dimension()), boxes, partition, rank,
                           value_bytes);
}

}  // namespace tessera
