// MatrixFree is the loop over cells on the host: gather, local kernel, scatter.
#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "mesh/lanes/cell_batches.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/lanes/lane_rows.hpp"
#include "mesh/lanes/simd.hpp"
#include "operators/cells/prefetch.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/cells/unset_rows.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/form/robin_faces.hpp"
#include "operators/form/updatable.hpp"
#include "solvers/linear_operator.hpp"

namespace tessera {

/// y = sum_c P_c K_c P_c^T x: gather a batch of cells, apply the local kernel, scatter by a policy.
///
/// Entries of x on Dirichlet faces are gathered as zero, contributions to them are dropped, and at
/// the end y = x there, so that constrained rows and columns are those of the identity.
/// A local kernel has: value_type, dimension, degree (0 = run time), kTakesCells
/// (whether a batch is named by its CellBatch or its number), nodes_per_axis(),
/// scratch_size(), apply(batch, u, v, scratch), diagonal(batch, d, scratch), flops_per_cell(),
/// bytes(), streamed_bytes(), name() and factor_storage() for operator_name(). It may have
/// update(batches, form before, form), as Updatable. With kAsksForRows apply() takes RowsAhead as
/// well, and rows of y that nobody has added to are set, as they are on their way from memory.
template <class Kernel>
class MatrixFree final : public LinearOperator<typename Kernel::value_type, Host>,
                         public Updatable {
 public:
  using T = typename Kernel::value_type;

  MatrixFree(const BilinearForm& form, std::shared_ptr<const CellBatches> batches, Kernel kernel,
             std::unique_ptr<Scatter<T>> scatter)
      : form_(form),
        lattice_(form.discretization->lattice),
        cells_(form.discretization->mesh.cells()),
        dirichlet_(form.dirichlet),
        batches_(std::move(batches)),
        kernel_(std::move(kernel)),
        scatter_(std::move(scatter)),
        robin_(form) {
    if constexpr (kAsksForRows) for_each_row([&](Index row, int) { rows_.push_back(row); });
  }

  Index size() const override { return lattice_.size(); }
  std::string name() const override {
    return operator_name(kernel_.name(), scatter_->name(), kernel_.factor_storage());
  }

  void do_apply(const HostVector<T>& x, HostVector<T>& y) const override {
    HostArray<Lanes<T>> workspaces = make_workspaces();
    const auto run_brick = [&](const Brick& brick, const AddTarget<T>& target) {
      add_brick(brick, target, workspaces,
                [&](const CellBatch& batch, AtBoundary at_boundary, Lanes<T>* u, Lanes<T>* v,
                    Lanes<T>* scratch) {
                  gather(batch, x.data(), u);
                  if (at_boundary == AtBoundary::yes) clear_constrained(batch, u);
                  if constexpr (kAsksForRows) {
                    kernel_.apply(argument(batch), u, v, scratch, rows_ahead(batch, x, target));
                  } else {
                    kernel_.apply(argument(batch), u, v, scratch);
                  }
                });
    };
    if constexpr (kAsksForRows) {
      scatter_->run_unset(run_brick, y);
    } else {
      scatter_->run(run_brick, y);
    }
    if (!robin_.empty()) robin_.add(x, FaceRows::unconstrained, y);
    for_each_face_node(lattice_, dirichlet_, [&](Index node) { y[node] = x[node]; });
  }

  void do_diagonal(HostVector<T>& d) const override {
    HostArray<Lanes<T>> workspaces = make_workspaces();
    scatter_->run(
        [&](const Brick& brick, const AddTarget<T>& target) {
          add_brick(brick, target, workspaces,
                    [&](const CellBatch& batch, AtBoundary, Lanes<T>*, Lanes<T>* v,
                        Lanes<T>* scratch) { kernel_.diagonal(argument(batch), v, scratch); });
        },
        d);
    if (!robin_.empty()) robin_.add_diagonal(d);
    for_each_face_node(lattice_, dirichlet_, [&](Index node) { d[node] = T{1}; });
  }

  /// x once, y once, and what the kernel reads once.
  Cost cost() const override {
    const double cells = static_cast<double>(cells_[0] * cells_[1] * cells_[2]);
    const double vectors = 2.0 * static_cast<double>(size()) * sizeof(T);
    return {vectors + static_cast<double>(kernel_.streamed_bytes()),
            cells * kernel_.flops_per_cell()};
  }

  Index bytes() const override { return kernel_.bytes() + scatter_->bytes(); }

  Updated update(const BilinearForm& form) override {
    if constexpr (requires { kernel_.update(*batches_, form, form); }) {
      if (kernel_.update(*batches_, form_, form) == Updated::no) return Updated::no;
      if (!are_same(form_.robin, form.robin)) robin_ = RobinFaces<T>(form);
      form_ = form;
      return Updated::yes;
    } else {
      return Updated::no;
    }
  }

 private:
  static constexpr bool kAsksForRows = [] {
    if constexpr (requires { Kernel::kAsksForRows; }) return Kernel::kAsksForRows;
    return false;
  }();
  static constexpr int kNodes = Kernel::degree > 0 ? Kernel::degree + 1 : 0;
  /// Only kernels that need its cells have the batch in memory: low degrees would feel it.
  [[gnu::always_inline]] static decltype(auto) argument(const CellBatch& batch) {
    if constexpr (Kernel::kTakesCells) {
      return (batch);
    } else {
      return Index{batch.index};
    }
  }

  int nodes_per_axis() const { return kNodes > 0 ? kNodes : kernel_.nodes_per_axis(); }

  /// Whether a batch has constrained nodes.
  enum class AtBoundary { no, yes };

  /// Of a thread: u, v and the kernel's scratch.
  std::size_t workspace_size() const {
    return static_cast<std::size_t>(2 * lattice_.nodes_per_cell() + kernel_.scratch_size());
  }
  /// Those of all threads, made once for all bricks: of small meshes the allocator would take a
  /// share of the time, and bricks do not throw.
  HostArray<Lanes<T>> make_workspaces() const {
    return HostArray<Lanes<T>>(workspace_size() * omp_get_max_threads());
  }

  /// Runs compute(batch, whether it has constrained nodes, u, v, scratch) for each batch of the
  /// brick and adds v to the target.
  template <class Compute>
  void add_brick(const Brick& brick, const AddTarget<T>& target, HostArray<Lanes<T>>& workspaces,
                 Compute&& compute) const {
    const Index nodes = lattice_.nodes_per_cell();
    Lanes<T>* u = workspaces.data() + omp_get_thread_num() * workspace_size();
    Lanes<T>* v = u + nodes;
    Lanes<T>* scratch = v + nodes;
    const bool is_inner = !touches_dirichlet(brick);
    const bool has_unset = !target.unset.is_empty();
    const auto work_on = [&](const CellBatch& batch) {
      const AtBoundary at_boundary =
          is_inner || !touches_dirichlet(batch) ? AtBoundary::no : AtBoundary::yes;
      compute(batch, at_boundary, u, v, scratch);
      if (at_boundary == AtBoundary::yes) clear_constrained(batch, v);
      if (target.mode == AddMode::atomic) {
        return scatter_add<AddMode::atomic>(batch, v, target);
      }
      if constexpr (kAsksForRows) {
        if (has_unset && batch.is_row) {
          return set_rows(unset_rows(target.unset, brick, batch, Kernel::degree, kLanes<T>), batch,
                          v, target);
        }
      }
      scatter_add<AddMode::plain>(batch, v, target);
    };
    if constexpr (kAsksForRows) {
      if (has_unset) clear_beyond_rows(brick, target);
    }
    if constexpr (Kernel::degree == 1) {
      batches_->for_each_batch(brick, work_on);
    } else {
      // Not inlined: the loop calls it in several places, which must not cost it registers. At
      // degree 1 there is so little work that the call would be felt.
      batches_->for_each_batch(
          brick, [&](const CellBatch& batch) __attribute__((noinline)) { work_on(batch); });
    }
  }

  /// u[i][lane] = x[node i of the lane's cell].
  void gather(const CellBatch& batch, const T* x, Lanes<T>* u) const {
    if constexpr (Kernel::degree > 0) {
      if (batch.is_row) {
        const T* corner = x + lattice_.first_node(batch.cells[0]);
        const Index to_next = lattice_.first_node(batch.next) - lattice_.first_node(batch.cells[0]);
        for_each_row([&](Index row, int i) {
          load_cell_row<Kernel::degree>(corner + row, u + i);
          if constexpr (!kAsksForRows) Prefetch<Kernel::degree>(corner + row + to_next).advance();
        });
        return;
      }
    }
    std::array<const T*, kLanes<T>> corner;
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      corner[lane] = x + lattice_.first_node(batch.cells[lane]);
    }
    for_each_row([&](Index row, int i) {
      const int n = nodes_per_axis();
      for (int ix = 0; ix < n; ++ix) {
        Lanes<T> values;
#pragma GCC unroll 16
        for (int lane = 0; lane < kLanes<T>; ++lane) values[lane] = corner[lane][row + ix];
        u[i + ix] = values;
      }
    });
  }

  /// y[node i of the lane's cell] += v[i][lane] for the active lanes.
  template <AddMode mode>
  void scatter_add(const CellBatch& batch, const Lanes<T>* v, const AddTarget<T>& target) const {
    if constexpr (Kernel::degree > 0 && mode == AddMode::plain) {
      if (batch.is_row) {
        T* corner = target.values + (lattice_.first_node(batch.cells[0]) - target.first_node);
        for_each_row([&](Index row, int i) { add_cell_row<Kernel::degree>(v + i, corner + row); });
        return;
      }
    }
    std::array<T*, kLanes<T>> corner;
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      corner[lane] = target.values + (lattice_.first_node(batch.cells[lane]) - target.first_node);
    }
    const auto add = [&](T& y, T value) {
      if constexpr (mode == AddMode::atomic) {
        std::atomic_ref<T>(y).fetch_add(value, std::memory_order_relaxed);
      } else {
        y += value;
      }
    };
    for_each_row([&](Index row, int i) {
      const int n = nodes_per_axis();
      for (int ix = 0; ix < n; ++ix) {
        const Lanes<T> values = v[i + ix];
        if (batch.active == kLanes<T>) {
#pragma GCC unroll 16
          for (int lane = 0; lane < kLanes<T>; ++lane) add(corner[lane][row + ix], values[lane]);
        } else {
          for (int lane = 0; lane < batch.active; ++lane) add(corner[lane][row + ix], values[lane]);
        }
      }
    });
  }

  /// As scatter_add() of a row batch, but sets the rows that nobody has added to.
  void set_rows(const UnsetRows& unset, const CellBatch& batch, const Lanes<T>* v,
                const AddTarget<T>& target) const {
    constexpr int p = Kernel::degree;
    constexpr int kLast = p * kLanes<T>;
    T* corner = target.values + (lattice_.first_node(batch.cells[0]) - target.first_node);
    int row = 0;
    for (int iz = 0; iz < kNodes; ++iz) {
      for (int iy = 0; iy < kNodes; ++iy, ++row) {
        T* to = corner + rows_[row];
        const Lanes<T>* from = v + row * kNodes;
        if (unset.has(iy, iz)) {
          set_cell_row<p>(from, unset.first_entry ? T{0} : to[0],
                          unset.last_entry ? T{0} : to[kLast], to);
        } else {
          add_cell_row<p>(from, to);
        }
      }
    }
  }

  /// y = 0 at the unset nodes that only cells outside row batches have.
  void clear_beyond_rows(const Brick& brick, const AddTarget<T>& target) const {
    NodeRange beyond = target.unset;
    if (const Index in_rows = batches_->cells_in_rows(brick); in_rows > 0) {
      beyond.first[0] = (brick.first[0] + in_rows) * Kernel::degree + 1;
    }
    clear_nodes(beyond, lattice_, target);
  }

  /// What apply() of a kernel that asks for rows is to ask for.
  RowsAhead<T> rows_ahead(const CellBatch& batch, const HostVector<T>& x,
                          const AddTarget<T>& target) const {
    if (!batch.is_row) return {};
    return {x.data() + lattice_.first_node(batch.next),
            target.values + (lattice_.first_node(batch.cells[0]) - target.first_node),
            rows_.data()};
  }

  /// f(lattice offset of the row's first node, its local index) for each x row of a cell.
  template <class F>
  [[gnu::always_inline]] void for_each_row(F&& f) const {
    const int n = nodes_per_axis();
    const int planes = Kernel::dimension == 3 ? n : 1;
    const Index stride_y = lattice_.stride(1);
    const Index stride_z = lattice_.stride(2);
    int i = 0;
    for (int iz = 0; iz < planes; ++iz) {
      for (int iy = 0; iy < n; ++iy, i += n) f(iy * stride_y + iz * stride_z, i);
    }
  }

  /// Whether one of the cells first .. first + count - 1 along each axis has constrained nodes.
  bool touches_dirichlet(const IndexTriple& first, const IndexTriple& count) const {
    for (int d = 0; d < Kernel::dimension; ++d) {
      if (dirichlet_[2 * d] && first[d] == 0) return true;
      if (dirichlet_[2 * d + 1] && first[d] + count[d] == cells_[d]) return true;
    }
    return false;
  }
  bool touches_dirichlet(const Brick& brick) const {
    return touches_dirichlet(brick.first, brick.count);
  }
  bool touches_dirichlet(const CellBatch& batch) const {
    if (batch.is_row) return touches_dirichlet(batch.cells[0], {kLanes<T>, 1, 1});
    return std::any_of(batch.cells.begin(), batch.cells.begin() + batch.active,
                       [&](const IndexTriple& cell) {
                         return touches_dirichlet(cell, {1, 1, 1});
                       });
  }

  /// u[i][lane] = 0 where node i of the lane's cell lies on a Dirichlet face.
  void clear_constrained(const CellBatch& batch, Lanes<T>* u) const {
    const int n = nodes_per_axis();
    const int nodes = static_cast<int>(power(n, Kernel::dimension));
    for (int d = 0; d < Kernel::dimension; ++d) {
      for (int side = 0; side < 2; ++side) {
        if (!dirichlet_[2 * d + side]) continue;
        Lanes<T> on_face{};
        bool any = false;
        for (int lane = 0; lane < kLanes<T>; ++lane) {
          if (batch.cells[lane][d] != (side == 0 ? 0 : cells_[d] - 1)) continue;
          on_face[lane] = T{1};
          any = true;
        }
        if (!any) continue;
        const int fast = static_cast<int>(power(n, d));
        for (int slow = side * (n - 1) * fast; slow < nodes; slow += n * fast) {
          for (int f = slow; f < slow + fast; ++f) u[f] = on_face > T{0} ? Lanes<T>{} : u[f];
        }
      }
    }
  }

  BilinearForm form_;
  NodeLattice lattice_;
  IndexTriple cells_;
  FaceSet dirichlet_;
  std::shared_ptr<const CellBatches> batches_;
  Kernel kernel_;
  std::unique_ptr<Scatter<T>> scatter_;
  RobinFaces<T> robin_;
  /// Where the x rows of a cell's nodes begin, seen from its first node.
  std::vector<Index> rows_;
};

}  // namespace tessera
