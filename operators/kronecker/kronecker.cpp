// This file has the Kronecker operator on the host, with its fused operations.
#include "operators/kronecker/kronecker.hpp"

#include "mesh/saturated.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/operator_name.hpp"
#include "operators/form/robin_faces.hpp"
#include "operators/form/updatable.hpp"
#include "operators/kronecker/host/sweep.hpp"

namespace tessera {
namespace {

/// The diagonal of A, row by row: k_i v + m_i w along x.
template <class T>
class Diagonal {
 public:
  Diagonal(const KroneckerFactors& factors, const NodeLattice& lattice, FaceSet dirichlet)
      : lattice_(lattice), dirichlet_(dirichlet), reaction_(factors.reaction) {
    for (int d = 0; d < factors.dimension; ++d) {
      mass_[d] = factors.axes[d].mass_diagonal;
      stiffness_[d] = factors.axes[d].stiffness_diagonal;
    }
    if (factors.dimension == 2) {
      mass_[2] = {1.0};
      stiffness_[2] = {0.0};
    }
    x_mass_.assign(mass_[0].begin(), mass_[0].end());
    x_stiffness_.assign(stiffness_[0].begin(), stiffness_[0].end());
  }

  /// Calls f(i, A_ii) for all nodes of a row, i from 0 on.
  template <class F>
  void for_each_in_row(Index row, Index plane, F f) const {
    const Index n = lattice_.extents()[0];
    FaceSet beside = dirichlet_;  // without those at the ends of the row
    beside[0] = beside[1] = false;
    if (lattice_.on_faces({0, row, plane}, beside)) {
      for (Index i = 0; i < n; ++i) f(i, T{1});
      return;
    }
    const double mass = mass_[1][row] * mass_[2][plane];
    const auto v = static_cast<T>(mass);
    const auto w = static_cast<T>(stiffness_[1][row] * mass_[2][plane] +
                                  mass_[1][row] * stiffness_[2][plane] + reaction_ * mass);
    const Index begin = dirichlet_[0] ? 1 : 0;
    const Index end = dirichlet_[1] ? n - 1 : n;
    if (begin > 0) f(0, T{1});
    const T* k = x_stiffness_.data();
    const T* m = x_mass_.data();
    for (Index i = begin; i < end; ++i) f(i, k[i] * v + m[i] * w);
    if (end < n) f(end, T{1});
  }

  void set_reaction(double reaction) { reaction_ = reaction; }

  Index bytes() const {
    Index values = 0;
    for (int d = 0; d < lattice_.dimension(); ++d) values += 2 * lattice_.extents()[d];
    return values * static_cast<Index>(sizeof(double)) +
           2 * lattice_.extents()[0] * static_cast<Index>(sizeof(T));
  }

 private:
  NodeLattice lattice_;
  FaceSet dirichlet_;
  double reaction_;
  std::array<std::vector<double>, 3> mass_;
  std::array<std::vector<double>, 3> stiffness_;
  std::vector<T> x_mass_;
  std::vector<T> x_stiffness_;
};

template <class T>
class KroneckerOperator final : public LinearOperator<T, Host>,
                                public FusedOperations<T, Host>,
                                public Updatable {
 public:
  using V = HostVector<T>;

  KroneckerOperator(const BilinearForm& form, const KroneckerFactors& factors)
      : form_(form),
        lattice_(form.discretization->lattice),
        dirichlet_(form.dirichlet),
        robin_(BilinearForm{form.discretization, form.coefficient, form.dirichlet,
                            factors.other_robin, form.reaction}),
        sweep_(factors, lattice_, form.dirichlet),
        diagonal_(factors, lattice_, form.dirichlet),
        where_(write_to(size() * static_cast<Index>(sizeof(T)))) {}

  std::int64_t size() const override { return lattice_.size(); }
  std::string name() const override { return operator_name("kronecker"); }

  void do_apply(const V& x, V& y) const override {
    sweep_.run(SweepResult::apply, {x.data(), y.data(), where_});
    if (!robin_.empty()) robin_.add(x, FaceRows::unconstrained, y);
  }

  void do_diagonal(V& d) const override {
#pragma omp parallel for collapse(2) schedule(static)
    for (Index plane = 0; plane < lattice_.extents()[2]; ++plane) {
      for (Index row = 0; row < lattice_.extents()[1]; ++row) {
        T* d_row = d.data() + lattice_.node_index({0, row, plane});
        diagonal_.for_each_in_row(row, plane, [d_row](Index i, T v) { d_row[i] = v; });
      }
    }
    if (robin_.empty()) return;
    robin_.add_diagonal(d);
    for_each_face_node(lattice_, dirichlet_, [&](Index node) { d[node] = T{1}; });
  }

  Cost cost() const override {
    return {2.0 * static_cast<double>(size()) * sizeof(T), sweep_.flops()};
  }

  std::int64_t bytes() const override { return sweep_.bytes() + diagonal_.bytes(); }

  const FusedOperations<T, Host>* fused() const override { return robin_.empty() ? this : nullptr; }

  Updated update(const BilinearForm& form) override {
    if (!differ_in_number_only(form_, form)) return Updated::no;
    const double reaction = kronecker_reaction(form);
    sweep_.set_reaction(reaction);
    diagonal_.set_reaction(reaction);
    form_ = form;
    return Updated::yes;
  }

  void do_apply_dot(const V& x, V& y, double* sums) const override {
    const SweepSums both = sweep_.run(SweepResult::apply_dot, {x.data(), y.data(), where_});
    sums[0] = both.first;
    sums[1] = both.second;
  }
  void do_residual(const V& b, const V& x, V& r, double* rr) const override {
    const SweepSums sums =
        sweep_.run(SweepResult::residual, {x.data(), r.data(), where_, b.data()});
    if (rr != nullptr) *rr = sums.second;
  }

 private:
  BilinearForm form_;
  NodeLattice lattice_;
  FaceSet dirichlet_;
  RobinFaces<T> robin_;
  KroneckerSweep<T> sweep_;
  Diagonal<T> diagonal_;
  WriteTo where_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_kronecker_operator(const BilinearForm& form) {
  return std::make_unique<KroneckerOperator<T>>(form, make_kronecker_factors(form));
}

Index kronecker_bytes(const BoxMesh& mesh, int degree, Index value_bytes) {
  Saturated bytes = Saturated(kronecker_sweep_bytes(mesh, degree, value_bytes)) +
                    2 * nodes_along(mesh.cells()[0], degree) * value_bytes;
  for (int d = 0; d < mesh.dimension(); ++d) {
    bytes += 2 * nodes_along(mesh.cells()[d], degree) * static_cast<Index>(sizeof(double));
  }
  return bytes;
}

template std::unique_ptr<LinearOperator<double, Host>> make_kronecker_operator(const BilinearForm&);
template std::unique_ptr<LinearOperator<float, Host>> make_kronecker_operator(const BilinearForm&);

}  // namespace tessera
