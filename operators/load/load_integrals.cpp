// This file integrates sources and fluxes in a fixed order.
#include "operators/load/load_integrals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "mesh/element/face_quadrature.hpp"
#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/partition.hpp"

namespace tessera {
namespace {

// Cells whose sums are added one after another.
constexpr Index kBlock = 64 * kLanes<double>;

struct Sums {
  double value = 0.0;
  double size = 0.0;

  void add(double more) {
    value += more;
    size += std::abs(more);
  }
};

// Adds the integrals over the cells [first, end).
class SourceSums {
 public:
  SourceSums(const Discretization& discretization, const Basis1D& basis, const ScalarField& source)
      : mesh_(discretization.mesh),
        source_(source),
        geometry_(discretization, basis),
        values_(static_cast<std::size_t>(geometry_.points_per_cell()) * kLanes<double>) {}

  Sums over(Index first, Index end) {
    Sums sums;
    std::array<IndexTriple, kLanes<double>> cells;
    for (Index cell = first; cell < end; cell += kLanes<double>) {
      const Index active = std::min<Index>(kLanes<double>, end - cell);
      for (Index lane = 0; lane < active; ++lane) cells[lane] = mesh_.cell_position(cell + lane);
      geometry_.evaluate({cells.data(), static_cast<std::size_t>(active)});
      source_.evaluate(geometry_.positions(), values_.data());
      for (int q = 0; q < geometry_.points_per_cell(); ++q) {
        for (Index lane = 0; lane < active; ++lane) {
          sums.add(values_[q * kLanes<double> + lane] * geometry_.determinant()[q][lane] *
                   geometry_.weights()[q]);
        }
      }
    }
    return sums;
  }

 private:
  const BoxMesh& mesh_;
  const ScalarField& source_;
  CellGeometry geometry_;
  std::vector<double> values_;
};

Sums integrate_source(const Discretization& discretization, const Basis1D& basis,
                      const ScalarField& source) {
  if (is_zero(source)) return {};
  const Index cells = discretization.mesh.cell_count();
  const Index blocks = ceil_div(cells, kBlock);
  std::vector<Sums> parts(static_cast<std::size_t>(blocks));
  parallel_ranges(blocks, [&](Range range) {
    SourceSums sums(discretization, basis, source);
    for (Index block = range.begin; block < range.end; ++block) {
      parts[block] = sums.over(block * kBlock, std::min(cells, (block + 1) * kBlock));
    }
  });
  Sums total;
  for (const Sums& part : parts) {
    total.value += part.value;
    total.size += part.size;
  }
  return total;
}

Sums integrate_flux(const Discretization& discretization, const Basis1D& basis,
                    const FluxTerm& flux) {
  Sums sums;
  if (is_zero(flux.value)) return sums;
  const FaceQuadrature quadrature = make_face_quadrature(discretization, basis, flux.face);
  std::vector<double> values(quadrature.measure.size());
  flux.value.evaluate(quadrature.positions(), values.data());
  for (std::size_t q = 0; q < values.size(); ++q) sums.add(values[q] * quadrature.measure[q]);
  return sums;
}

}  // namespace

LoadIntegrals integrate_load(const Discretization& discretization, FaceSet domain_faces,
                             const Basis1D& basis, const ScalarField& source,
                             const std::vector<FluxTerm>& fluxes) {
  const Sums inside = integrate_source(discretization, basis, source);
  LoadIntegrals integrals{inside.value, 0.0, inside.size};
  for (const FluxTerm& flux : fluxes) {
    if (!domain_faces[flux.face]) continue;
    const Sums sums = integrate_flux(discretization, basis, flux);
    integrals.flux += sums.value;
    integrals.size += sums.size;
  }
  return integrals;
}

}  // namespace tessera
