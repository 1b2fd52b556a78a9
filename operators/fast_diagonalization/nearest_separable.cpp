// This file fits the weights of the nearest separable operator by least squares.
#include "operators/fast_diagonalization/nearest_separable.hpp"

#include <cmath>
#include <numeric>
#include <optional>

#include "operators/fast_diagonalization/log_sums.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/robin_faces.hpp"
#include "operators/kronecker/factors/factors.hpp"
#include "solvers/errors.hpp"

namespace tessera {
namespace {

// The whole of a form without its map: all that the matrices of axes depend on.
class WholeForm {
 public:
  explicit WholeForm(const BilinearForm& form) : form_(form) {
    if (form.part == nullptr) return;
    const Discretization& own = *form.discretization;
    const BoxMesh& mesh = form.part->rank->whole_mesh();
    const NodeLattice lattice(mesh, own.basis.degree);
    space_.emplace(Discretization{mesh, own.basis, lattice, Mapping(mesh, lattice, own.basis.nodes),
                                  own.frame});
    form_.discretization = &*space_;
    form_.dirichlet = form.part->dirichlet;
    form_.robin = form.part->robin;
    form_.part = nullptr;
  }
  WholeForm(const WholeForm&) = delete;
  WholeForm& operator=(const WholeForm&) = delete;

  const BilinearForm& form() const { return form_; }
  BilinearForm without_reaction() const {
    BilinearForm form = form_;
    form.reaction = constant_field(0.0);
    return form;
  }
  const Discretization& space() const { return *form_.discretization; }

 private:
  std::optional<Discretization> space_;
  BilinearForm form_;
};

// The weights of an axis in each cell.
struct CellWeights {
  std::vector<double> mass;
  std::vector<double> stiffness;
};

// log a_d ~ log f_d(X_d) + sum over e != d of log m_e(X_e) by least squares. Means over the box
// give it: with l_de the mean of log a_d at a place along e and l_d that of all,
// log f_d = l_dd and log m_e = the mean over d != e of l_de - l_d, whose own mean is 0.
std::array<CellWeights, 3> fit(const BoxMesh& mesh, const LogSums& logs) {
  const int dimension = mesh.dimension();
  std::array<CellWeights, 3> weights;
  std::array<double, 3> mean{};
  const double samples = std::accumulate(logs.counts[0].begin(), logs.counts[0].end(), 0.0);
  for (int d = 0; d < dimension; ++d) {
    mean[d] = std::accumulate(logs.sums[d][0].begin(), logs.sums[d][0].end(), 0.0) / samples;
  }
  for (int e = 0; e < dimension; ++e) {
    for (Index c = 0; c < mesh.cells()[e]; ++c) {
      double log_mass = 0.0;
      for (int d = 0; d < dimension; ++d) {
        if (d != e) log_mass += logs.sums[d][e][c] / logs.counts[e][c] - mean[d];
      }
      weights[e].mass.push_back(std::exp(log_mass / (dimension - 1)));
      weights[e].stiffness.push_back(std::exp(logs.sums[e][e][c] / logs.counts[e][c]));
    }
  }
  return weights;
}

// A value a cell, at all its points.
std::vector<double> at_points(const std::vector<double>& of_cell, int points) {
  std::vector<double> values;
  for (const double value : of_cell) values.insert(values.end(), points, value);
  return values;
}

// Over the face of the form's own part.
double integral_of_alpha(const BilinearForm& form, const RobinTerm& term) {
  if (!form.domain_faces()[term.face]) return 0.0;
  const BilinearForm part{
      form.discretization, form.coefficient, form.dirichlet, {term}, form.reaction};
  double integral = 0.0;
  for (const WeightedFace& face : make_weighted_faces(part)) {
    integral = std::accumulate(face.alpha_measure.begin(), face.alpha_measure.end(), integral);
  }
  return integral;
}

// Each face's mean alpha, in units of the mass matrices that an end term is multiplied with.
void add_robin_ends(const BilinearForm& form, const std::vector<RobinTerm>& terms,
                    NearestSeparable& separable) {
  for (const RobinTerm& term : terms) {
    double value = on_all_ranks(form, [&] { return integral_of_alpha(form, term); });
    if (form.part != nullptr) value = form.part->rank->ranks().sum(value);
    const int axis = face_axis(term.face);
    for (int d = 0; d < separable.dimension; ++d) {
      if (d != axis) value /= separable.axes[d].total_mass;
    }
    add_end_term(separable.axes[axis], is_upper_face(term.face) ? 1 : 0, value);
  }
}

// The integral of the reaction over the box, by the samples, in units of the mass matrices.
void add_mean_reaction(const BoxMesh& mesh, const LogSums& samples, NearestSeparable& separable) {
  double reaction = samples.reaction / samples.box_volume;
  for (int d = 0; d < separable.dimension; ++d) {
    reaction *= (mesh.upper()[d] - mesh.lower()[d]) / separable.axes[d].total_mass;
  }
  separable.reaction += reaction;
}

}  // namespace

NearestSeparable make_nearest_separable(const BilinearForm& form) {
  if (form.depends_on_u()) {
    throw UnsuitableChoice(
        Choice::preconditioner,
        "fast diagonalization takes no coefficient or reaction that depends on u");
  }
  const WholeForm whole(form);
  const Discretization& discretization = whole.space();
  NearestSeparable separable;
  separable.dimension = discretization.mesh.dimension();
  // The whole has lost its map.
  const bool is_separable = why_not_kronecker(form).empty();
  BilinearForm without_reaction = form;
  without_reaction.reaction = constant_field(0.0);
  if (why_not_kronecker(without_reaction).empty()) {
    KroneckerFactors factors =
        make_kronecker_factors(is_separable ? whole.form() : whole.without_reaction());
    separable.axes = std::move(factors.axes);
    separable.reaction = factors.reaction;
    if (!is_separable) add_mean_reaction(discretization.mesh, sample_logs(form), separable);
    if (is_separable && factors.other_robin.empty()) return separable;
    separable.exactness = Exactness::approximate;
    add_robin_ends(form, factors.other_robin, separable);
    return separable;
  }
  separable.exactness = Exactness::approximate;
  const LogSums logs = sample_logs(form);
  const std::array<CellWeights, 3> weights = fit(discretization.mesh, logs);
  const int points = discretization.basis.point_count();
  for (int d = 0; d < separable.dimension; ++d) {
    const std::vector<double> mass = at_points(weights[d].mass, points);
    const std::vector<double> stiffness = at_points(weights[d].stiffness, points);
    separable.axes[d] =
        make_axis_factors(discretization, d, {mass, stiffness}, AxisCells::different,
                          {{whole.form().dirichlet[2 * d], whole.form().dirichlet[2 * d + 1]}, {}});
  }
  add_mean_reaction(discretization.mesh, logs, separable);
  add_robin_ends(form, whole.form().robin, separable);
  return separable;
}

}  // namespace tessera
