// This file adds the numbers of parts.
#include "postprocess/ranks/rank_norms.hpp"

#include <cmath>

namespace tessera {
namespace {

std::array<double, 2> extrema_of_all(const Communicator& ranks, double least, double largest) {
  ranks.min(std::span(&least, 1));
  ranks.max(std::span(&largest, 1));
  return {least, largest};
}

}  // namespace

std::array<double, 2> RankNorms::extrema() const {
  const auto [least, largest] = of_part([&] { return part_->extrema(); });
  return extrema_of_all(ranks_, least, largest);
}

SolutionNumbers RankNorms::solution_numbers(const ScalarField& coefficient, double unit) const {
  const SolutionNumbers part = of_part([&] { return part_->solution_numbers(coefficient, unit); });
  const auto [min, max] = extrema_of_all(ranks_, part.min, part.max);
  std::array<double, 3> sums = {part.integral, part.energy, part.volume};
  ranks_.sum(sums);
  return {min, max, sums[0], sums[1], sums[2]};
}

double RankNorms::integral(double unit) const {
  return ranks_.sum(of_part([&] { return part_->integral(unit); }));
}

MeanParts RankNorms::sum(const MeanParts& part) const {
  std::array<double, 2> sums = {part.integral, part.volume};
  ranks_.sum(sums);
  return {sums[0], sums[1]};
}

MeanParts RankNorms::mean_parts(double unit) const {
  return sum(of_part([&] { return part_->mean_parts(unit); }));
}

MeanParts RankNorms::mean_parts(const ScalarField& field) const {
  return sum(of_part([&] { return part_->mean_parts(field); }));
}

ErrorNorms RankNorms::error_norms(const ScalarField& exact, double unit) const {
  const ErrorNorms part = of_part([&] { return part_->error_norms(exact, unit); });
  if (ranks_.size() == 1) return part;
  std::array<double, 2> squares = {part.l2 * part.l2, part.h1_seminorm * part.h1_seminorm};
  ranks_.sum(squares);
  double largest = part.max;
  ranks_.max(std::span(&largest, 1));
  return {std::sqrt(squares[0]), std::sqrt(squares[1]), largest};
}

double RankNorms::max_error(const ScalarField& exact, double unit) const {
  double largest = of_part([&] { return part_->max_error(exact, unit); });
  ranks_.max(std::span(&largest, 1));
  return largest;
}

void RankNorms::subtract(double constant) { part_->subtract(constant); }

}  // namespace tessera
