// This file evaluates fields for the GPU, and names the point where one is bad.
#include "operators/tensor/gpu/coefficient_at_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/partition.hpp"

namespace tessera {
namespace {

constexpr int kCells = kLanes<double>;

// The lowest point at which a value cannot be used.
struct LowestFailure {
  Index at = std::numeric_limits<Index>::max();
  double value = 0.0;
  Point where{};
};

bool is_coefficient(double k) { return k > 0.0 && std::isfinite(k); }
bool is_reaction(double c, ReactionSign sign) {
  return (c >= 0.0 || sign == ReactionSign::any) && std::isfinite(c);
}

// The values of a field, and check(value, where) of the first that is not allowed.
template <class Allowed, class Check>
std::vector<double> field_at_points(const BilinearForm& form, const ScalarField& field, Index first,
                                    Index count, Allowed&& is_allowed, Check&& check) {
  const Discretization& discretization = *form.discretization;
  const Index points = power(discretization.basis.point_count(), discretization.mesh.dimension());
  std::vector<double> values(static_cast<std::size_t>(count * points));
  LowestFailure failure;
  // Not in the threads: the first who asks may have to copy it from the GPU.
  const double* const u = field.depends_on_u ? form.context().u : nullptr;
  parallel_ranges(ceil_div(count, kCells), [&](Range range) {
    CellGeometry geometry(discretization, discretization.basis, u);
    std::vector<double> k(static_cast<std::size_t>(points) * kCells);
    std::array<IndexTriple, kCells> cells;
    LowestFailure mine;
    for (Index group = range.begin; group < range.end; ++group) {
      const Index begin = group * kCells;
      const int active = static_cast<int>(std::min<Index>(kCells, count - begin));
      for (int lane = 0; lane < kCells; ++lane) {
        cells[lane] = discretization.mesh.cell_position(first + begin + std::min(lane, active - 1));
      }
      geometry.evaluate(cells);
      field.evaluate(geometry.positions(), k.data());
      for (int lane = 0; lane < active; ++lane) {
        for (Index q = 0; q < points; ++q) {
          const double value = k[q * kCells + lane];
          const Index at = (begin + lane) * points + q;
          values[at] = value;
          if (is_allowed(value) || at >= mine.at) continue;
          mine = {at,
                  value,
                  {geometry.position(0)[q][lane], geometry.position(1)[q][lane],
                   geometry.position(2)[q][lane]}};
        }
      }
    }
#pragma omp critical(tessera_first_coefficient_failure)
    if (mine.at < failure.at) failure = mine;
  });
  if (failure.at < std::numeric_limits<Index>::max()) {
    check(failure.value, discretization.frame.physical(failure.where));
  }
  return values;
}

}  // namespace

void check_coefficient(double k, const Point& where) {
  if (is_coefficient(k)) return;
  throw BadFieldValue("the coefficient must be positive and finite", where, k);
}

void check_reaction(double c, ReactionSign sign, const Point& where) {
  if (is_reaction(c, sign)) return;
  throw BadFieldValue(sign == ReactionSign::any ? "the reaction must be finite"
                                                : "the reaction must be finite and not negative",
                      where, c);
}

std::vector<double> coefficient_at_points(const BilinearForm& form, Index first, Index count) {
  return field_at_points(form, form.coefficient, first, count, is_coefficient, check_coefficient);
}

std::vector<double> reaction_at_points(const BilinearForm& form, Index first, Index count) {
  const ReactionSign sign = form.reaction_sign;
  return field_at_points(
      form, form.reaction, first, count, [sign](double c) { return is_reaction(c, sign); },
      [sign](double c, const Point& where) { check_reaction(c, sign, where); });
}

void report_inverted_cell(const BilinearForm& form, Index cell) {
  const Discretization& discretization = *form.discretization;
  CellGeometry geometry(discretization, discretization.basis);
  const std::array<IndexTriple, 1> cells = {discretization.mesh.cell_position(cell)};
  geometry.evaluate(cells);
  int worst = 0;
  for (int q = 0; q < geometry.points_per_cell(); ++q) {
    if (geometry.determinant()[q][0] > 0.0) continue;
    worst = q;
    break;
  }
  const int dimension = discretization.mesh.dimension();
  throw InvertedCell(
      cells[0], dimension,
      geometry.determinant()[worst][0] * discretization.frame.volume(dimension),
      discretization.frame.physical({geometry.position(0)[worst][0], geometry.position(1)[worst][0],
                                     geometry.position(2)[worst][0]}));
}

}  // namespace tessera
