// RankNorms compute the numbers of a solution of which each rank has a part.
#pragma once

#include <memory>

#include "operators/form/on_all_ranks.hpp"
#include "postprocess/solution_norms.hpp"

namespace tessera {

/// The numbers of a solution of which each rank has a part, with the same bits on all ranks, which
/// call each function together. They are those of one rank but for rounding; minima, maxima and the
/// error at the nodes are exact. What is thrown on one rank is thrown on all, as on_all_ranks()
/// does.
class RankNorms final : public SolutionNorms {
 public:
  /// @param part the numbers of this rank's part of the solution, on its part of the mesh
  /// @param ranks must outlive this
  RankNorms(const Communicator& ranks, std::unique_ptr<SolutionNorms> part)
      : ranks_(ranks), part_(std::move(part)) {}

  std::array<double, 2> extrema() const override;
  SolutionNumbers solution_numbers(const ScalarField& coefficient, double unit) const override;
  double integral(double unit) const override;
  MeanParts mean_parts(double unit) const override;
  MeanParts mean_parts(const ScalarField& field) const override;
  ErrorNorms error_norms(const ScalarField& exact, double unit) const override;
  double max_error(const ScalarField& exact, double unit) const override;
  void subtract(double constant) override;

 private:
  /// compute() on this rank's part, once it has gone well on all.
  template <class Compute>
  auto of_part(Compute&& compute) const {
    return on_all_ranks(ranks_, std::forward<Compute>(compute));
  }
  MeanParts sum(const MeanParts& part) const;

  const Communicator& ranks_;
  std::unique_ptr<SolutionNorms> part_;
};

}  // namespace tessera
