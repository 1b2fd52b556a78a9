// This file puts a time into the expressions of a case.
#include "src/case/time/problem_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/parameters/names.hpp"

namespace tessera {

ProblemInTime::ProblemInTime(const CaseParameters& parameters, std::shared_ptr<const RankPart> part)
    : dimension_(parameters.mesh.dimension),
      part_(std::move(part)),
      coefficient_("problem.coefficient", parameters.problem.coefficient, dimension_,
                   Requirement::positive, Variables::position_time_and_u),
      reaction_("problem.reaction", parameters.problem.reaction, dimension_,
                Requirement::non_negative),
      capacity_("problem.capacity", parameters.problem.capacity, dimension_, Requirement::positive),
      source_("problem.source", parameters.problem.source, dimension_, Requirement::finite,
              Variables::position_time_and_u) {
  for (int face = 0; face < face_count(dimension_); ++face) {
    const BoundaryParameters& parameter = parameters.boundary[face];
    const std::string key = fmt::format("boundary.{}", kFaceNames[face]);
    faces_.push_back({parameter.type,
                      {key + ".value", parameter.value, dimension_, Requirement::finite},
                      std::nullopt});
    if (parameter.type != BoundaryType::robin) continue;
    faces_.back().alpha.emplace(key + ".alpha", *parameter.alpha, dimension_,
                                Requirement::non_negative);
  }
}

PoissonProblem ProblemInTime::at(double t) const {
  PoissonProblem problem;
  problem.dimension = dimension_;
  problem.part = part_;
  problem.coefficient = coefficient_.at(t);
  problem.reaction = reaction_.at(t);
  problem.capacity = capacity_.at(t);
  problem.source = source_.at(t);
  for (std::size_t face = 0; face < faces_.size(); ++face) {
    BoundaryCondition& condition = problem.boundary[face];
    condition.type = faces_[face].type;
    condition.value = faces_[face].value.at(t);
    if (faces_[face].alpha) condition.alpha = faces_[face].alpha->at(t);
  }
  return problem;
}

std::vector<ScalarField> ProblemInTime::value_rates(double t) const {
  std::vector<ScalarField> rates;
  rates.reserve(faces_.size());
  for (const Face& face : faces_) rates.push_back(face.value.rate_at(t));
  return rates;
}

bool ProblemInTime::form_depends_on_time() const {
  return coefficient_.depends_on_time() || reaction_.depends_on_time() ||
         std::any_of(faces_.begin(), faces_.end(),
                     [](const Face& face) { return face.alpha && face.alpha->depends_on_time(); });
}

bool ProblemInTime::data_depend_on_time() const {
  return source_.depends_on_time() || boundary_depends_on_time();
}

bool ProblemInTime::boundary_depends_on_time() const {
  return std::any_of(faces_.begin(), faces_.end(),
                     [](const Face& face) { return face.value.depends_on_time(); });
}

bool ProblemInTime::dirichlet_depends_on_time() const {
  return std::any_of(faces_.begin(), faces_.end(), [](const Face& face) {
    return face.type == BoundaryType::dirichlet && face.value.depends_on_time();
  });
}

}  // namespace tessera
