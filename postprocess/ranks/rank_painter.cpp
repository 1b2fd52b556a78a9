// This file draws on rank 0 what it gets from all.
#include "postprocess/ranks/rank_painter.hpp"

#include <array>

#include "operators/form/on_all_ranks.hpp"
#include "postprocess/ranks/whole_solution.hpp"

namespace tessera {

RankPainter::RankPainter(const RankPart* part, const Discretization& space, PictureSize size)
    : part_(part) {
  if (part_ != nullptr) whole_ = gather_space(*part_, space);
  on_all_ranks(ranks(), [&] {
    if (ranks().rank() == 0) painter_.emplace(part_ == nullptr ? space : *whole_, size);
  });
}

SampledSolution RankPainter::sample(std::span<const double> values, std::pair<double, double> range,
                                    const PictureText& text) {
  HostArray<double> gathered;
  if (part_ != nullptr) gathered = gather_values(*part_, values);
  const std::span<const double> whole =
      part_ == nullptr ? values : std::span<const double>(gathered.data(), gathered.size());
  SampledSolution sampled = on_all_ranks(
      ranks(), [&] { return painter_ ? painter_->sample(whole, range, text) : SampledSolution(); });
  std::array<double, 2> bounds = {sampled.range.first, sampled.range.second};
  ranks().broadcast(std::as_writable_bytes(std::span(bounds)));
  sampled.range = {bounds[0], bounds[1]};
  return sampled;
}

SolutionPicture RankPainter::draw(const SampledSolution& sampled, std::pair<double, double> range) {
  SolutionPicture picture = on_all_ranks(
      ranks(), [&] { return painter_ ? painter_->draw(sampled, range) : SolutionPicture(); });
  picture.complaint = ranks().broadcast(picture.complaint);
  return picture;
}

}  // namespace tessera
