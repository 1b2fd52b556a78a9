// This file has the Kronecker operator on the GPU, with its fused operations.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>

#include "mesh/with_constant.hpp"
#include "operators/form/device_robin_faces.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/form/updatable.hpp"
#include "operators/kronecker/any_degree.hpp"
#include "operators/kronecker/arguments.cuh"
#include "operators/kronecker/device_data.hpp"
#include "operators/kronecker/device_kronecker.hpp"
#include "operators/kronecker/factors/cells_along_z.hpp"
#include "operators/kronecker/factors/stiffness_rounding.hpp"
#include "operators/kronecker/resident/resident.hpp"
#include "solvers/memory/launch.cuh"
#include "solvers/memory/reduction.cuh"

namespace tessera {
namespace {

constexpr int kThreads = 256;

enum class Rows { all, constrained };

// d_i = diagonal of A, 1 at constrained nodes. One thread a node in turn.
template <Rows rows, class T>
__global__ void __launch_bounds__(kThreads)
    diagonal_kernel(const KroneckerData<T> g, std::int64_t size, T* d) {
  for (std::int64_t node = thread_number<kThreads>(); node < size;
       node += thread_count<kThreads>()) {
    const std::int64_t row = node / g.nodes.strides[1];
    const int position[3] = {static_cast<int>(node % g.nodes.strides[1]),
                             static_cast<int>(row % g.axis[1].nodes),
                             static_cast<int>(row / g.axis[1].nodes)};
    EntryPair<T> e[3];
    bool constrained = false;
    for (int a = 0; a < 3; ++a) {
      e[a] = g.axis[a].diagonal[position[a]];
      constrained |= position[a] < g.axis[a].first_free || position[a] > g.axis[a].last_free;
    }
    if (rows == Rows::constrained && !constrained) continue;
    d[node] = constrained ? T{1} : diagonal_entry(e[0], e[1], e[2], g.reaction);
  }
}

template <class T>
std::vector<EntryPair<T>> paired(const std::vector<double>& mass,
                                 const std::vector<double>& stiffness) {
  std::vector<EntryPair<T>> pairs(mass.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {static_cast<T>(mass[i]), static_cast<T>(stiffness[i])};
  }
  return pairs;
}

template <class T>
class DeviceKronecker final : public LinearOperator<T, Device>,
                              public FusedOperations<T, Device>,
                              public Updatable {
 public:
  using V = DeviceVector<T>;

  explicit DeviceKronecker(const BilinearForm& form)
      : DeviceKronecker(form, make_kronecker_factors(form)) {}

  std::int64_t size() const override { return size_; }
  std::string name() const override { return operator_name("kronecker"); }

  void do_apply(const V& x, V& y) const override {
    KroneckerVectors<T> v;
    v.x = x.data();
    v.y = y.data();
    run(v);
    robin_.add(x, y);
  }

  void do_diagonal(V& d) const override {
    const unsigned blocks = blocks_for(size_, kThreads, 1 << 16);
    launch(diagonal_kernel<Rows::all, T>, {"diagonal of the Kronecker operator", blocks, kThreads},
           data_, size_, d.data());
    if (!has_other_robin_) return;
    robin_.add_diagonal(d);
    launch(diagonal_kernel<Rows::constrained, T>,
           {"diagonal of constrained rows", blocks, kThreads}, data_, size_, d.data());
  }

  /// x once and y once.
  Cost cost() const override {
    const int products = dimension_ == 3 ? 7 : 4;
    return {2.0 * static_cast<double>(size_) * sizeof(T),
            2.0 * products * (degree_ + 2) * static_cast<double>(size_)};
  }
  std::int64_t bytes() const override {
    std::int64_t sum = partial_.bytes() + arrived_.bytes() + robin_.bytes();
    for (int d = 0; d < 3; ++d) sum += rows_[d].bytes() + diagonals_[d].bytes();
    return any_ ? sum + any_->bytes() : sum;
  }

  const FusedOperations<T, Device>* fused() const override {
    return any_ || has_other_robin_ ? nullptr : this;
  }

  Updated update(const BilinearForm& form) override {
    if (!differ_in_number_only(form_, form)) return Updated::no;
    data_.reaction = static_cast<T>(kronecker_reaction(form));
    resident_.reaction = kronecker_reaction(form);
    form_ = form;
    return Updated::yes;
  }

  std::unique_ptr<ResidentCg<T>> make_resident_cg() const override {
    if constexpr (std::is_same_v<T, double>) {
      if (data_.kind == KroneckerCells::alike && fused() != nullptr) {
        return make_kronecker_resident_cg(resident_);
      }
    }
    return nullptr;
  }

  void do_apply_dot(const V& x, V& y, double* sums) const override {
    run({.form = KroneckerPass::apply_dot, .x = x.data(), .y = y.data(), .sums = sums});
  }
  void do_residual(const V& b, const V& x, V& r, double* rr) const override {
    run({.form = KroneckerPass::residual, .x = x.data(), .y = r.data(), .b = b.data(), .sums = rr});
  }

  bool has_step() const override {
    return has_step_kernel(dimension_, sizeof(T)) && data_.kind == KroneckerCells::alike;
  }
  void do_step(T scale, const V& d, const V& b, const V& x, V& y) const override {
    run({.form = KroneckerPass::step,
         .x = x.data(),
         .y = y.data(),
         .b = b.data(),
         .d = d.data(),
         .scale = scale});
  }

 private:
  static constexpr int kDigits = std::numeric_limits<T>::digits;

  DeviceKronecker(const BilinearForm& form, const KroneckerFactors& factors)
      : form_(form),
        degree_(factors.axes[0].degree),
        dimension_(factors.dimension),
        size_(form.discretization->lattice.size()),
        has_other_robin_(!factors.other_robin.empty()),
        robin_({form.discretization, form.coefficient, form.dirichlet, factors.other_robin,
                form.reaction}),
        partial_(kronecker_max_blocks(dimension_, degree_, sizeof(T), factors.axes[0].cells,
                                      factors.axes[1].cells)),
        arrived_(1) {
    zero_on_device(arrived_.data(), arrived_.bytes());
    data_.sums = {partial_.data(), partial_.size(), arrived_.data()};
    data_.nodes = form.discretization->lattice.nodes();
    data_.kind = kronecker_cells(factors);
    data_.ratio = T{1};
    data_.scale = T{1};
    data_.reaction = static_cast<T>(factors.reaction);
    double mass_scale = 1.0;  // of y against x
    double stiffness_scale = 1.0;
    if (data_.kind != KroneckerCells::different) {
      mass_scale = factors.axes[1].cell_mass[0] / factors.axes[0].cell_mass[0];
      // A mass matrix has none.
      const double along_x = factors.axes[0].cell_stiffness[0];
      stiffness_scale = along_x == 0.0 ? 1.0 : factors.axes[1].cell_stiffness[0] / along_x;
      data_.ratio = static_cast<T>(stiffness_scale / mass_scale);
      data_.scale = static_cast<T>(mass_scale);
      set_unit(factors.axes[0]);
    }
    const double end_scales[] = {1.0, 1.0 / stiffness_scale, mass_scale};
    for (int d = 0; d < dimension_; ++d) {
      set_axis(d, factors.axes[d], end_scales[d]);
    }
    if (dimension_ == 2) {
      set_flat_axis();
    } else if (degree_ <= kMaxFastDegree) {
      set_cells_along_z(factors.axes[2], mass_scale);
    }
    if (degree_ > kMaxFastDegree) any_.emplace(degree_, dimension_, data_);
    if (data_.kind == KroneckerCells::alike) resident_ = resident_data(factors, data_.nodes);
    resident_.reaction = factors.reaction;
  }

  void set_unit(const AxisFactors& axis) {
    const int n = degree_ + 1;
    const std::vector<double> cell_stiffness = rounded_cell_stiffness(axis, kDigits);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        data_.unit[distinct_entry(degree_, i, j)] = {static_cast<T>(axis.cell_mass[i * n + j]),
                                                     static_cast<T>(cell_stiffness[i * n + j])};
      }
    }
    data_.vertex = {static_cast<T>(vertex(axis.cell_mass)), static_cast<T>(vertex(cell_stiffness))};
    data_.beyond = data_.unit[distinct_entry(degree_, 0, 0)];
    if (kTakesDifferences<T>) {
      data_.beyond = {
          static_cast<T>(std::accumulate(axis.cell_mass.begin(), axis.cell_mass.begin() + n, 0.0)),
          T{0}};
    }
  }
  static double vertex(const std::vector<double>& cell) { return cell.front() + cell.back(); }

  void set_axis(int d, const AxisFactors& factors, double end_scale) {
    const bool by_cells = d == 2 && degree_ <= kMaxFastDegree;
    if (!by_cells) {
      rows_[d] =
          DeviceArray<EntryPair<T>>(paired<T>(factors.mass, rounded_stiffness(factors, kDigits)));
    }
    diagonals_[d] =
        DeviceArray<EntryPair<T>>(paired<T>(factors.mass_diagonal, factors.stiffness_diagonal));
    DeviceAxis<T>& axis = data_.axis[d];
    axis.cells = static_cast<int>(factors.cells);
    axis.nodes = static_cast<int>(factors.nodes());
    axis.first_free = factors.constrained[0] ? 1 : 0;
    axis.last_free = axis.nodes - (factors.constrained[1] ? 2 : 1);
    axis.rows = rows_[d].data();
    axis.diagonal = diagonals_[d].data();
    for (int side = 0; side < 2; ++side) {
      axis.end_term[side] = static_cast<T>(factors.end_terms[side] * end_scale);
    }
  }
  // The third axis in 2D: one node, M = 1, K = 0.
  void set_flat_axis() {
    diagonals_[2] = DeviceArray<EntryPair<T>>(std::vector<EntryPair<T>>{{T{1}, T{0}}});
    data_.axis[2] = {};
    data_.axis[2].nodes = 1;
    data_.axis[2].diagonal = diagonals_[2].data();
  }
  void set_cells_along_z(const AxisFactors& axis, double scale) {
    const CellsAlongZ z = cells_along_z(axis, data_.kind, kDigits, scale);
    const auto rounded = [](EntryPair<double> e) {
      return EntryPair<T>{static_cast<T>(e.mass), static_cast<T>(e.stiffness)};
    };
    const int n = degree_ + 1;
    for (std::size_t e = 0; e < z.unit.size(); ++e) {
      const auto at = static_cast<int>(e);
      data_.unit_z[distinct_entry(degree_, at / n, at % n)] = rounded(z.unit[e]);
    }
    std::vector<EntryPair<T>> rows(z.rows.size());
    std::transform(z.rows.begin(), z.rows.end(), rows.begin(), rounded);
    rows_[2] = DeviceArray<EntryPair<T>>(rows);
    data_.axis[2].rows = rows_[2].data();
  }

  void run(const KroneckerVectors<T>& v) const {
    KroneckerData<T> data = data_;
    data.v = v;
    if (any_) {
      any_->apply(data);
    } else if (dimension_ == 2) {
      launch_kronecker_degrees<2, 1, kMaxFastDegree>(degree_, data, chunks_);
    } else {
      constexpr int kOfAFile = kKroneckerDegreesOfAFile;
      static_assert(kMaxFastDegree % kOfAFile == 0);
      with_constant<0, kMaxFastDegree / kOfAFile - 1>((degree_ - 1) / kOfAFile, [&]<int file>() {
        launch_kronecker_degrees<3, file * kOfAFile + 1, (file + 1) * kOfAFile>(degree_, data,
                                                                                chunks_);
      });
    }
  }

  BilinearForm form_;
  int degree_;
  int dimension_;
  std::int64_t size_;
  bool has_other_robin_;
  DeviceRobinFaces<T> robin_;
  DeviceArray<EntryPair<T>> rows_[3];
  DeviceArray<EntryPair<T>> diagonals_[3];
  DeviceArray<Sums<2>> partial_;
  DeviceArray<unsigned> arrived_;
  KroneckerData<T> data_{};
  mutable ChunksOfKernels chunks_;
  ResidentData resident_;  // where cells are alike
  std::optional<KroneckerAny<T>> any_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Device>> make_device_kronecker_operator(
    const BilinearForm& form) {
  return std::make_unique<DeviceKronecker<T>>(form);
}

template std::unique_ptr<LinearOperator<double, Device>> make_device_kronecker_operator(
    const BilinearForm&);
template std::unique_ptr<LinearOperator<float, Device>> make_device_kronecker_operator(
    const BilinearForm&);

}  // namespace tessera
