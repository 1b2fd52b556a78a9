// A RankCase is one rank's part of a case.
#pragma once

#include <memory>
#include <string>

#include "src/case/choices.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "tests/operators/ranks/rank_problem.hpp"

namespace tessera::testing {

/// The parameters of a case file's text, without `auto`.
inline CaseParameters resolved(const std::string& text) {
  CaseParameters parameters = make_case_registry().parse(text, "case.toml").parameters;
  resolve_choices(parameters);
  return parameters;
}

/// A case on the unit box, whose natural frame is its own, as one rank of a grid has it.
class RankCase {
 public:
  /// @param parameters must outlive this object
  RankCase(const Communicator& ranks, const CaseParameters& parameters, const RankGrid& grid)
      : RankCase(ranks, make_case_model(parameters), grid) {}

  const RankProblem& on_rank() const { return on_rank_; }
  const CaseModel& model() const { return model_; }
  std::shared_ptr<const RankPart> part() const { return model_.problem.part; }

 private:
  RankCase(const Communicator& ranks, CaseModel whole, const RankGrid& grid)
      : RankCase(ranks, whole, problem_of(whole), grid) {}
  RankCase(const Communicator& ranks, const CaseModel& whole, const Problem& problem,
           const RankGrid& grid)
      : on_rank_(ranks, BoxPartition(problem.discretization->mesh, grid), problem),
        model_{on_rank_.discretization(), whole.units, whole.problem, whole.physical_mesh} {
    model_.part = model_.problem.part = on_rank_.form().part->rank;
  }
  static Problem problem_of(const CaseModel& model) {
    auto discretization = std::make_unique<const Discretization>(model.discretization);
    BilinearForm form = stiffness_form(model.problem, *discretization);
    return {std::move(discretization), std::move(form)};
  }

  RankProblem on_rank_;
  CaseModel model_;
};

}  // namespace tessera::testing
