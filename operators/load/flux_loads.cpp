// This file integrates fluxes over their faces.
#include "operators/load/flux_loads.hpp"

#include "mesh/element/face_quadrature.hpp"
#include "operators/form/finite_values.hpp"

namespace tessera {
namespace {

FaceValues load_of(const FluxTerm& flux, const Discretization& discretization) {
  const FaceQuadrature quadrature = make_face_quadrature(discretization, flux.face);
  std::vector<double> at_points(quadrature.measure.size());
  flux.value.evaluate(quadrature.positions(), at_points.data());
  require_finite("the boundary value", quadrature.positions(), at_points, discretization.frame);
  const Index p = discretization.lattice.degree();
  const Index row = quadrature.nodes.counts[0];
  FaceValues load{quadrature.nodes,
                  std::vector<double>(static_cast<std::size_t>(quadrature.nodes.count()))};
  for (Index cell = 0; cell < quadrature.cell_count(); ++cell) {
    double* const corner = load.values.data() + p * (cell % quadrature.cells[0]) +
                           row * (p * (cell / quadrature.cells[0]));
    for (int q = 0; q < quadrature.points_per_cell; ++q) {
      const Index at = cell * quadrature.points_per_cell + q;
      const double value = at_points[at] * quadrature.measure[at];
      const double* const shape = &quadrature.shape[q * quadrature.nodes_per_cell];
      for (int i = 0; i < quadrature.nodes_per_cell; ++i) {
        corner[i % (p + 1) + row * (i / (p + 1))] += shape[i] * value;
      }
    }
  }
  return load;
}

}  // namespace

std::vector<FaceValues> flux_loads(const BilinearForm& form, const std::vector<FluxTerm>& fluxes) {
  const FaceSet domain_faces = form.domain_faces();
  std::vector<FaceValues> loads;
  for (const FluxTerm& flux : fluxes) {
    if (is_zero(flux.value) || !domain_faces[flux.face]) continue;
    loads.push_back(load_of(flux, *form.discretization));
  }
  return loads;
}

}  // namespace tessera
