#include "src/studies/assembly/assembly_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mesh/larger_or_nan.hpp"

namespace tessera {
namespace {

constexpr double kTolerance = 1e-12;

using Nonzero = AssemblyTarget::Nonzero;

/// The place of entry (column, row).
Index transposed_place(const AssemblyTarget& target, const Nonzero& nonzero) {
  const auto found = std::lower_bound(target.nonzeros.begin(), target.nonzeros.end(), nonzero,
                                      [](const Nonzero& each, const Nonzero& wanted) {
                                        return each.row != wanted.column ? each.row < wanted.column
                                                                         : each.column < wanted.row;
                                      });
  return found->place;
}

/// The largest sum of a row; NaN if one is.
double largest_row_sum(const AssemblyTarget& target, const std::vector<double>& values) {
  std::vector<double> sums(target.rows, 0.0);
  for (const Nonzero& nonzero : target.nonzeros) sums[nonzero.row] += values[nonzero.place];
  double largest = 0.0;
  for (const double sum : sums) largest = larger_or_nan(largest, std::abs(sum));
  return largest;
}

}  // namespace

CountingResult counting_result(const AssemblyTarget& target, const std::vector<Index>& counts,
                               const std::vector<double>& values) {
  const Index wanted = std::accumulate(counts.begin(), counts.end(), Index{0});
  double lost = 0.0;
  bool is_exact = std::accumulate(values.begin(), values.end(), 0.0) == static_cast<double>(wanted);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double missing = static_cast<double>(counts[k]) - values[target.nonzeros[k].place];
    is_exact = is_exact && missing == 0.0;
    lost += missing;
  }
  return {
      .exactness = is_exact ? CountingResult::Exactness::exact : CountingResult::Exactness::wrong,
      .lost_share = lost / static_cast<double>(wanted)};
}

std::string stiffness_fault(const AssemblyTarget& target, const std::vector<double>& values,
                            const std::vector<double>& serial) {
  double largest = 0.0;
  for (const double value : serial) largest = std::max(largest, std::abs(value));
  const double allowed = kTolerance * largest;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(std::abs(values[k] - serial[k]) <= allowed)) {
      return fmt::format("entry {} is {}, not {}", k, values[k], serial[k]);
    }
  }
  for (const Nonzero& nonzero : target.nonzeros) {
    const double value = values[nonzero.place];
    const double transposed = values[transposed_place(target, nonzero)];
    if (!(std::abs(value - transposed) <= allowed)) {
      return fmt::format("entry ({}, {}) is {}, its mirror image {}", nonzero.row, nonzero.column,
                         value, transposed);
    }
  }
  const double sum = largest_row_sum(target, values);
  // A row adds up some ten rounded entries.
  if (!(sum <= 10.0 * allowed)) return fmt::format("a row has the sum {}, not 0", sum);
  return "";
}

void judge_assembly(StudyRow& row, Races races, const std::string& fault,
                    const std::function<CountingResult()>& count) {
  constexpr int kRacingRuns = 100;
  CountingResult result = count();
  int runs = 1;
  const auto is_exact = [&] { return result.exactness == CountingResult::Exactness::exact; };
  if (races == Races::yes) {
    for (; is_exact() && runs < kRacingRuns; ++runs) result = count();
    row.correctness = Correctness::wrong_by_design;
    row.wrong = is_exact() ? fmt::format("a race, though none of {} runs lost an addition", runs)
                           : lost_text(result.lost_share);
  } else if (!is_exact()) {
    row.correctness = Correctness::wrong;
    row.wrong = lost_text(result.lost_share);
  } else if (!fault.empty()) {
    row.correctness = Correctness::wrong;
    row.wrong = fault;
  }
}

}  // namespace tessera
