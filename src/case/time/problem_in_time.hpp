// A ProblemInTime is the problem of a case at any time.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "cases/problem/poisson_problem.hpp"
#include "src/case/fields.hpp"
#include "src/parameters/case_parameters.hpp"

namespace tessera {

/// capacity du/dt - div(coefficient grad u) + reaction u = source with the conditions of a case,
/// all of which may depend on the time t.
class ProblemInTime {
 public:
  /// @param part of the problems at all times: as in PoissonProblem
  /// @throws ExpressionError, BadExpressionValue of a constant
  explicit ProblemInTime(const CaseParameters& parameters,
                         std::shared_ptr<const RankPart> part = nullptr);

  /// The problem with the values at t, in the case's units. Its fields throw BadExpressionValue.
  PoissonProblem at(double t) const;
  /// d/dt of the values on the faces, by Face; those of Dirichlet faces mean something.
  std::vector<ScalarField> value_rates(double t) const;

  /// Whether the matrix of the stationary problem depends on t: coefficient, reaction or alpha do.
  bool form_depends_on_time() const;
  bool capacity_depends_on_time() const { return capacity_.depends_on_time(); }
  /// Whether the matrix of a step does, for the same length: form or capacity do.
  bool step_depends_on_time() const { return form_depends_on_time() || capacity_depends_on_time(); }
  /// Whether the source or a value on a face does.
  bool data_depend_on_time() const;
  /// Whether a value on a face does.
  bool boundary_depends_on_time() const;
  /// Whether a value on a Dirichlet face does.
  bool dirichlet_depends_on_time() const;

 private:
  struct Face {
    BoundaryType type;
    CaseTimeField value;
    std::optional<CaseTimeField> alpha;
  };

  int dimension_;
  std::shared_ptr<const RankPart> part_;
  CaseTimeField coefficient_;
  CaseTimeField reaction_;
  CaseTimeField capacity_;
  CaseTimeField source_;
  std::vector<Face> faces_;
};

}  // namespace tessera
