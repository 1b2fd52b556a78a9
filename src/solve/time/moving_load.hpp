// A MovingLoad is the right-hand side of a case in time.
#pragma once

#include <optional>
#include <type_traits>
#include <vector>

#include "cases/problem/natural_units.hpp"
#include "solvers/memory/vector.hpp"
#include "src/case/time/problem_in_time.hpp"
#include "src/solve/time/load_assembly.hpp"

namespace tessera {

/// d/dt of the Dirichlet values at time t.
/// @param form has the faces; all ranks that have parts of it call this together
inline DirichletValues dirichlet_rates(const ProblemInTime& problem, const BilinearForm& form,
                                       const NaturalUnits& units, double t) {
  std::vector<ScalarField> fields;
  for (const ScalarField& rate : problem.value_rates(t)) {
    fields.push_back(in_frame(rate, units.frame));
  }
  return {form, fields};
}

/// The load at time t with the Dirichlet values g(t) lifted,
///   b_i(t) = (source, phi_i) + <values, phi_i> - a(g, phi_i) - (capacity g', phi_i)   at free
///   nodes,
/// and 0 on Dirichlet faces. It is assembled where it is used, on the GPU as far as
/// assemble_device_load() can, and again only where the data or the form have moved.
template <class Space>
class MovingLoad {
 public:
  /// @param mass at the t of at(); null for a lumped mass, which has no entries between nodes
  /// All but units are referred to.
  MovingLoad(const ProblemInTime& problem, const Discretization& discretization,
             const NaturalUnits& units, const BilinearForm* mass)
      : problem_(problem), discretization_(discretization), units_(units), mass_(mass) {}

  /// b(t). @throws what the case's fields throw
  const Vector<double, Space>& at(double t) {
    const bool moves = problem_.step_depends_on_time() || problem_.data_depend_on_time();
    if (!time_ || (*time_ != t && moves)) {
      time_.reset();
      assemble(t);
      time_ = t;
    }
    return load_;
  }

 private:
  void assemble(double t) {
    const PoissonProblem problem = in_units(problem_.at(t), units_);
    const BilinearForm form = stiffness_form(problem, discretization_);
    if (!values_ || problem_.dirichlet_depends_on_time()) {
      values_.emplace(form, dirichlet_fields(problem));
    }
    if (assemble_source_alone(form, problem)) return;
    assemble_load_in<Space>(form, problem.source, flux_terms(problem), *values_, load_);
    if (mass_ == nullptr || !problem_.dirichlet_depends_on_time()) return;
    assemble_load_in<Space>(*mass_, constant_field(0.0), {},
                            dirichlet_rates(problem_, form, units_, t), rate_load_);
    axpy(1.0, rate_load_, load_);
  }

  // Where the source alone moves, what the faces add is assembled once. Returns whether that is so,
  // and the GPU can do it.
  bool assemble_source_alone(const BilinearForm& form, const PoissonProblem& problem) {
    if constexpr (std::is_same_v<Space, Device>) {
      const bool source_moves =
          problem_.data_depend_on_time() && !problem_.boundary_depends_on_time();
      if (!source_moves || problem_.form_depends_on_time()) return false;
      if (!has_face_load_) {
        assemble_load_in<Space>(form, constant_field(0.0), flux_terms(problem), *values_,
                                face_load_);
        if (dot(face_load_, face_load_) == 0.0) face_load_ = {};
        has_face_load_ = true;
      }
      if (!assemble_device_load(form, problem.source, {}, {}, load_)) return false;
      if (face_load_.size() > 0) axpy(1.0, face_load_, load_);
      return true;
    } else {
      return false;
    }
  }

  const ProblemInTime& problem_;
  const Discretization& discretization_;
  NaturalUnits units_;
  const BilinearForm* mass_;
  std::optional<DirichletValues> values_;
  std::optional<double> time_;
  Vector<double, Space> load_;
  /// What the faces add where the source alone moves; empty where that is 0.
  Vector<double, Space> face_load_;
  bool has_face_load_ = false;
  /// What the rates of the Dirichlet values add.
  Vector<double, Space> rate_load_;
};

}  // namespace tessera
