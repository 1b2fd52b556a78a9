// A CaseOnRank is one rank's part of a case.
#pragma once

#include <memory>
#include <string>

#include "src/case/choices.hpp"
#include "src/case/model.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "tests/operators/ranks/rank_problem.hpp"

namespace tessera::testing {

/// The parameters of a case file's text, without `auto`, for one processor; on the GPU with the
/// same bits in every run, as the host has them anyway.
inline CaseParameters resolved(const std::string& text, Processor processor = Processor::cpu) {
  CaseParameters parameters = make_case_registry().parse(text, "case.toml").parameters;
  const bool is_on_gpu = processor == Processor::gpu;
  parameters.run.device = is_on_gpu ? RunDevice::cuda : RunDevice::cpu;
  parameters.run.deterministic = is_on_gpu;
  resolve_choices(parameters);
  return parameters;
}

/// A case on the unit box, whose natural frame is its own, as one rank of a grid has it: on a GPU,
/// which ranks may share, where the case is for one.
class CaseOnRank {
 public:
  /// @param parameters must outlive this object
  CaseOnRank(const Communicator& ranks, const CaseParameters& parameters, const RankGrid& grid)
      : CaseOnRank(ranks, make_case_model(parameters), case_processor(parameters), grid) {}

  const RankProblem& on_rank() const { return on_rank_; }
  const CaseModel& model() const { return model_; }
  std::shared_ptr<const RankPart> part() const { return model_.problem.part; }

 private:
  CaseOnRank(const Communicator& ranks, const CaseModel& whole, Processor processor,
             const RankGrid& grid)
      : CaseOnRank(ranks, whole, problem_of(whole), processor, grid) {}
  CaseOnRank(const Communicator& ranks, const CaseModel& whole, const Problem& problem,
             Processor processor, const RankGrid& grid)
      : on_rank_(ranks, BoxPartition(problem.discretization->mesh, grid), problem, processor),
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
