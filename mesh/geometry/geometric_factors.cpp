// This file computes geometric factors and checks Jacobians and coefficients on the way.
#include "mesh/geometry/geometric_factors.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "mesh/errors.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/symmetric_factors.hpp"
#include "mesh/lanes/lane_parts.hpp"
#include "mesh/partition.hpp"
#include "mesh/saturated.hpp"

namespace tessera {
namespace {

// What a cell is refused for.
enum class Failure { none, inverted, coefficient, reaction };

// The failure of the lowest cell, whichever thread met it.
struct FirstFailure {
  Index cell = std::numeric_limits<Index>::max();
  Failure failure = Failure::none;
  double value = 0.0;
  Point where{};
};

constexpr char kBadCoefficient[] = "the coefficient must be positive and finite";
constexpr char kBadReaction[] = "the reaction must be finite and not negative";
constexpr char kInfiniteReaction[] = "the reaction must be finite";

bool is_coefficient(double k) { return k > 0.0 && std::isfinite(k); }
bool is_reaction(double c, ReactionSign sign) {
  return (c >= 0.0 || sign == ReactionSign::any) && std::isfinite(c);
}
const char* bad_reaction(ReactionSign sign) {
  return sign == ReactionSign::any ? kInfiniteReaction : kBadReaction;
}

// k and c at the points of some cells, [q][lane].
struct PointFields {
  std::vector<double> k;
  std::vector<double> c;
};

void check_cell(const BoxMesh& mesh, std::span<const IndexTriple> cells,
                const CellGeometry& geometry, const PointFields& fields, ReactionSign sign,
                FirstFailure& first) {
  for (std::size_t lane = 0; lane < cells.size(); ++lane) {
    const Index cell = mesh.cell_index(cells[lane]);
    if (cell >= first.cell) continue;
    for (int q = 0; q < geometry.points_per_cell(); ++q) {
      const double determinant = geometry.determinant()[q][lane];
      const double k = fields.k[q * kLanes<double> + lane];
      const double c = fields.c[q * kLanes<double> + lane];
      const Failure failure = !(determinant > 0.0)    ? Failure::inverted
                              : !is_coefficient(k)    ? Failure::coefficient
                              : !is_reaction(c, sign) ? Failure::reaction
                                                      : Failure::none;
      if (failure == Failure::none) continue;
      first = {cell,
               failure,
               failure == Failure::inverted      ? determinant
               : failure == Failure::coefficient ? k
                                                 : c,
               {geometry.position(0)[q][lane], geometry.position(1)[q][lane],
                geometry.position(2)[q][lane]}};
      break;
    }
  }
}

// The entries of D_q at point q of these cells.
template <int dim>
void factors_at(const CellGeometry& geometry, int q, Lanes<double> scale, Lanes<double>* entries) {
  Lanes<double> J[dim][dim];
  for (int a = 0; a < dim; ++a) {
    for (int b = 0; b < dim; ++b) J[a][b] = geometry.jacobian(a, b)[q];
  }
  symmetric_factors(J, scale, entries);
}

void factors_at(int dimension, const CellGeometry& geometry, int q, Lanes<double> scale,
                Lanes<double>* entries) {
  if (dimension == 2) {
    factors_at<2>(geometry, q, scale, entries);
  } else {
    factors_at<3>(geometry, q, scale, entries);
  }
}

// Calls f(i) for each i of the range, far from the one before: what is only somewhere comes soon.
template <class F>
void for_each_spread(Range range, F&& f) {
  const Index count = range.end - range.begin;
  Index step = std::max(count * 5 / 8, Index{1});
  while (std::gcd(step, count) > 1) ++step;
  for (Index i = 0; i < count; ++i) f(range.begin + i * step % count);
}

// Evaluates the geometry, the coefficient and the reaction in the cells of every batch,
// kLanes<double> cells at a time, checks them, and calls f(batch, first lane, geometry, fields),
// which may end the pass. Parallel.
template <class F>
void for_each_evaluated(const Discretization& discretization, const CellBatches& batches,
                        const ScalarField& coefficient, const ScalarField& reaction,
                        const FieldContext& context, F&& f) {
  FirstFailure first;
  std::atomic<Pass> pass = Pass::goes_on;
  parallel_ranges(static_cast<Index>(batches.bricks().size()), [&](Range range) {
    const bool needs_u = coefficient.depends_on_u || reaction.depends_on_u;
    CellGeometry geometry(discretization, discretization.basis, needs_u ? context.u : nullptr);
    const std::size_t values =
        static_cast<std::size_t>(geometry.points_per_cell()) * kLanes<double>;
    PointFields fields{std::vector<double>(values, coefficient.constant.value_or(0.0)),
                       std::vector<double>(values, reaction.constant.value_or(0.0))};
    FirstFailure mine;
    for_each_spread(range, [&](Index b) {
      batches.for_each_batch(batches.bricks()[b], [&](const CellBatch& batch) {
        if (pass.load(std::memory_order_relaxed) == Pass::ends) return;
        for (int lane = 0; lane < batches.lanes(); lane += kLanes<double>) {
          const std::span<const IndexTriple> cells(batch.cells.data() + lane, kLanes<double>);
          geometry.evaluate(cells);
          if (!coefficient.constant) coefficient.evaluate(geometry.positions(), fields.k.data());
          if (!reaction.constant) reaction.evaluate(geometry.positions(), fields.c.data());
          check_cell(discretization.mesh, cells, geometry, fields, context.reaction_sign, mine);
          if (f(batch, lane, geometry, fields) == Pass::ends) pass = Pass::ends;
        }
      });
    });
#pragma omp critical(tessera_first_failure)
    if (mine.cell < first.cell) first = mine;
  });
  if (first.failure == Failure::none || pass == Pass::ends) return;
  const Point where = discretization.frame.physical(first.where);
  if (first.failure == Failure::inverted) {
    const BoxMesh& mesh = discretization.mesh;
    const int dimension = mesh.dimension();
    throw InvertedCell(mesh.position_in_whole(mesh.cell_position(first.cell)), dimension,
                       first.value * discretization.frame.volume(dimension), where);
  }
  throw BadFieldValue(
      first.failure == Failure::coefficient ? kBadCoefficient : bad_reaction(context.reaction_sign),
      where, first.value);
}

void check_constants(const BoxMesh& mesh, double k, double c, ReactionSign sign) {
  if (!is_coefficient(k)) throw BadFieldValue(kBadCoefficient, mesh.lower(), k);
  check_reaction(mesh, c, sign);
}

// The coefficient, or 1 in place of the 0 of a mass matrix, which has no gradient term.
ScalarField nonzero(const ScalarField& coefficient, const ScalarField& reaction) {
  return is_mass(coefficient, reaction) ? constant_field(1.0) : coefficient;
}

// The values of a field at point q of kLanes<double> cells.
Lanes<double> lanes_at(const std::vector<double>& values, int q) {
  Lanes<double> lanes;
  for (int lane = 0; lane < kLanes<double>; ++lane) lanes[lane] = values[q * kLanes<double> + lane];
  return lanes;
}

// w_q |J| c at point q of kLanes<double> cells, without c where that is a number.
Lanes<double> reaction_at(const CellGeometry& geometry, const PointFields& fields,
                          ReactionKind kind, int q) {
  const Lanes<double> measure = geometry.weights()[q] * geometry.determinant()[q];
  return kind == ReactionKind::varying ? measure * lanes_at(fields.c, q) : measure;
}

}  // namespace

void check_reaction(const BoxMesh& mesh, double c, ReactionSign sign) {
  if (!is_reaction(c, sign)) throw BadFieldValue(bad_reaction(sign), mesh.lower(), c);
}

ReactionKind reaction_kind(const ScalarField& reaction) {
  if (!reaction.constant) return ReactionKind::varying;
  return *reaction.constant == 0.0 ? ReactionKind::none : ReactionKind::constant;
}

FactorKind factor_kind(const Mapping& mapping, const ScalarField& coefficient,
                       const ScalarField& reaction) {
  if (!mapping.has_equal_cells()) return FactorKind::general;
  return coefficient.constant && reaction.constant ? FactorKind::constant : FactorKind::scaled;
}

Index geometric_factor_bytes(FactorKind kind, ReactionKind reaction, int dimension, Index cells,
                             int points_per_axis, Index value_bytes) {
  const Index points = power(points_per_axis, dimension);
  if (kind == FactorKind::constant) return points * value_bytes;
  return Saturated(cells) * points * factor_values(kind, reaction, dimension) * value_bytes;
}

template <class T>
GeometricFactors<T>::GeometricFactors(const Discretization& discretization,
                                      const CellBatches& batches, const ScalarField& coefficient,
                                      const ScalarField& reaction, const FieldContext& context)
    : kind_(factor_kind(discretization.mapping, coefficient, reaction)),
      reaction_(reaction_kind(reaction)),
      is_mass_(tessera::is_mass(coefficient, reaction)) {
  if (batches.lanes() != kLanes<T>) throw std::invalid_argument("batches of another width");
  const Index points = power(discretization.basis.point_count(), discretization.mesh.dimension());
  if (kind_ == FactorKind::constant) {
    shared_points_.resize(static_cast<std::size_t>(points));
  } else {
    batch_stride_ =
        points * (is_mass_ ? 1 : factor_values(kind_, reaction_, discretization.mesh.dimension()));
    per_batch_.resize(static_cast<std::size_t>(batches.batch_count() * batch_stride_));
  }
  update(discretization, batches, coefficient, reaction, context);
}

template <class T>
void GeometricFactors<T>::update_reaction(const Discretization& discretization,
                                          const ScalarField& coefficient, double reaction,
                                          ReactionSign sign) {
  check_reaction(discretization.mesh, reaction, sign);
  const bool is_divided = kind_ == FactorKind::constant && !is_mass_;
  reaction_scale_ = is_divided ? reaction / *coefficient.constant : reaction;
}

template <class T>
void GeometricFactors<T>::update(const Discretization& discretization, const CellBatches& batches,
                                 const ScalarField& coefficient, const ScalarField& reaction,
                                 const FieldContext& context) {
  const BoxMesh& mesh = discretization.mesh;
  const int dimension = mesh.dimension();
  double volume = 1.0;
  for (int d = 0; kind_ != FactorKind::general && d < dimension; ++d) {
    const double width = mesh.cell_width(d, 0);
    volume *= width;
    axis_scale_[d] = is_mass_ ? T{0} : static_cast<T>(1.0 / (width * width));
  }
  const std::vector<double> weights = tensor_weights(discretization.basis.quadrature, dimension);
  if (kind_ == FactorKind::constant) {
    const double k = *nonzero(coefficient, reaction).constant;
    check_constants(mesh, k, *reaction.constant, context.reaction_sign);
    for (std::size_t q = 0; q < weights.size(); ++q) {
      shared_points_[q] = static_cast<T>(weights[q] * volume * k);
    }
    return update_reaction(discretization, coefficient, *reaction.constant, context.reaction_sign);
  }
  const Index entries = is_mass_ ? 0 : factor_values(kind_, ReactionKind::none, dimension);
  const auto points = static_cast<Index>(weights.size());
  for_each_evaluated(discretization, batches, nonzero(coefficient, reaction), reaction, context,
                     [&](const CellBatch& batch, int first_lane, const CellGeometry& geometry,
                         const PointFields& fields) {
                       Lanes<T>* out = per_batch_.data() + batch.index * batch_stride_;
                       Lanes<T>* reactions = out + points * entries;
                       for (int q = 0; q < geometry.points_per_cell(); ++q, out += entries) {
                         const Lanes<double> scale = lanes_at(fields.k, q) * geometry.weights()[q];
                         Lanes<double> values[6];
                         if (is_mass_ || kind_ != FactorKind::general) {
                           values[0] = scale * geometry.determinant()[q];
                         } else {
                           factors_at(dimension, geometry, q, scale, values);
                         }
                         for (Index entry = 0; entry < entries; ++entry) {
                           store_part(values[entry], out[entry], first_lane);
                         }
                         if (reaction_ == ReactionKind::none) continue;
                         store_part(reaction_at(geometry, fields, reaction_, q), reactions[q],
                                    first_lane);
                       }
                       return Pass::goes_on;
                     });
  if (reaction.constant) reaction_scale_ = *reaction.constant;
}

template <class T>
Index GeometricFactors<T>::bytes() const {
  return static_cast<Index>(shared_points_.size() * sizeof(T) +
                            per_batch_.size() * sizeof(Lanes<T>));
}

void for_each_general_factors(const Discretization& discretization, const CellBatches& batches,
                              const ScalarField& coefficient, const ScalarField& reaction,
                              const FieldContext& context, const TakeFactors& take) {
  const int dimension = discretization.mesh.dimension();
  const int entries = factor_entries(dimension);
  const ReactionKind kind = reaction_kind(reaction);
  for_each_evaluated(discretization, batches, coefficient, reaction, context,
                     [&](const CellBatch& batch, int first_lane, const CellGeometry& geometry,
                         const PointFields& fields) {
                       const int points = geometry.points_per_cell();
                       thread_local HostArray<Lanes<double>> factors;
                       factors.resize(static_cast<std::size_t>(points) * (entries + 1));
                       for (int q = 0; q < points; ++q) {
                         const Lanes<double> scale = lanes_at(fields.k, q) * geometry.weights()[q];
                         factors_at(dimension, geometry, q, scale, factors.data() + q * entries);
                         if (kind == ReactionKind::none) continue;
                         factors[points * entries + q] = reaction_at(geometry, fields, kind, q);
                       }
                       return take(batch, first_lane, factors.data());
                     });
}

void check_geometry(const Discretization& discretization, const ScalarField& coefficient,
                    const ScalarField& reaction, const FieldContext& context) {
  if (factor_kind(discretization.mapping, coefficient, reaction) == FactorKind::constant) {
    check_constants(discretization.mesh, *nonzero(coefficient, reaction).constant,
                    *reaction.constant, context.reaction_sign);
    return;
  }
  const CellBatches batches(discretization.mesh, kLanes<double>,
                            power(discretization.basis.point_count(), 3) * sizeof(double),
                            omp_get_max_threads());
  for_each_evaluated(discretization, batches, nonzero(coefficient, reaction), reaction, context,
                     [](const auto&...) { return Pass::goes_on; });
}

template <class T>
FieldsAtPoints<T> checked_fields(const Discretization& discretization, const CellBatches& batches,
                                 const ScalarField& coefficient, const ScalarField& reaction,
                                 const FieldContext& context) {
  const Index points = power(discretization.basis.point_count(), discretization.mesh.dimension());
  const auto size = static_cast<std::size_t>(batches.batch_count() * points);
  FieldsAtPoints<T> at_points;
  if (!coefficient.constant) at_points.coefficient.resize(size);
  if (!reaction.constant) at_points.reaction.resize(size);
  for_each_evaluated(
      discretization, batches, nonzero(coefficient, reaction), reaction, context,
      [&](const CellBatch& batch, int first_lane, const CellGeometry&, const PointFields& fields) {
        const auto write = [&](const std::vector<double>& from, HostArray<Lanes<T>>& to) {
          if (to.empty()) return;
          Lanes<T>* out = to.data() + batch.index * points;
          for (int q = 0; q < points; ++q) {
            store_part(lanes_at(from, q), out[q], first_lane);
          }
        };
        write(fields.k, at_points.coefficient);
        write(fields.c, at_points.reaction);
        return Pass::goes_on;
      });
  return at_points;
}

template FieldsAtPoints<double> checked_fields(const Discretization&, const CellBatches&,
                                               const ScalarField&, const ScalarField&,
                                               const FieldContext&);
template FieldsAtPoints<float> checked_fields(const Discretization&, const CellBatches&,
                                              const ScalarField&, const ScalarField&,
                                              const FieldContext&);
template class GeometricFactors<double>;
template class GeometricFactors<float>;

}  // namespace tessera
