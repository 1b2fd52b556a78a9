// A RankPainter draws a solution of which each rank has a part.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "operators/ranks/rank_part.hpp"
#include "postprocess/picture/solution_picture.hpp"

namespace tessera {

/// A SolutionPainter on rank 0, which gets the parts of the others: the picture is that of one
/// rank. All ranks call each function together, and what is thrown on rank 0 is thrown on all.
///
/// Rank 0 has the whole of a mapped mesh's positions as long as this lives, 8 bytes a node and
/// axis, and that of the values, 8 bytes a node, while it samples (gathered_solution_bytes()).
class RankPainter {
 public:
  /// @param part null where one rank has the whole; else it must outlive this
  /// @param space the part's, in any frame, which must outlive this if it is the whole
  RankPainter(const RankPart* part, const Discretization& space, PictureSize size = {});
  RankPainter(const RankPainter&) = delete;
  RankPainter& operator=(const RankPainter&) = delete;

  /// As SolutionPainter::sample(). @param values of the part's nodes
  /// @return elsewhere than on rank 0 only the range
  SampledSolution sample(std::span<const double> values, std::pair<double, double> range,
                         const PictureText& text);
  /// As SolutionPainter::draw(). @return elsewhere than on rank 0 no picture, but the complaint
  SolutionPicture draw(const SampledSolution& sampled, std::pair<double, double> range);

 private:
  const Communicator& ranks() const { return part_ == nullptr ? single_rank() : part_->ranks(); }

  const RankPart* part_;
  std::optional<Discretization> whole_;     // on rank 0 of several
  std::optional<SolutionPainter> painter_;  // on rank 0
};

}  // namespace tessera
