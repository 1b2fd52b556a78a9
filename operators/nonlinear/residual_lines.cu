// This file compiles and launches the kernels that sum up residuals with one thread a line.
#include "mesh/with_constant.hpp"
#include "operators/nonlinear/residual_lines.cuh"
#include "operators/nonlinear/residual_lines.hpp"
#include "solvers/memory/launch.cuh"

namespace tessera {
namespace {

bool runs_on_lines(const DeviceField& field) {
  const DeviceFieldView view = field.view();
  return view.depth <= kLineDepth && are_all(view, TermsAre::values);
}

}  // namespace

bool has_integrals_by_lines(int dimension, const Basis1D& basis, const DeviceFields& fields) {
  return has_points_on_lines(dimension, basis) && runs_on_lines(fields.coefficient) &&
         runs_on_lines(fields.reaction) && runs_on_lines(fields.source);
}

bool add_integrals_by_lines(const Basis1D& basis, const PointPlaces& points, const CellGrid& grid,
                            const DeviceFields& fields, const std::vector<CellRange>& ranges,
                            const DeviceVector<double>& u, DeviceVector<double>& r) {
  DeviceArray<int> are_allowed(std::vector<int>{1});
  ResidualLines arguments{grid,
                          {},
                          points,
                          {fields.coefficient.view(), fields.reaction.view(), fields.source.view()},
                          u.data(),
                          r.data(),
                          are_allowed.data()};
  with_constant<2, kMaxFixedPoints>(basis.point_count(), [&]<int m>() {
    const auto one = [](int) { return 1.0; };
    const ResidualMatrices<m> matrices{PointMatrices<m>(basis),
                                       even_odd_transposed<double, m, m>(basis.B, one),
                                       even_odd_transposed<double, m, m>(basis.D, one)};
    for (const CellRange& range : ranges) {
      arguments.range = range;
      launch(residual_lines_kernel<m>, launch_on_lines<m>("integrals over cells", range.size()),
             arguments, matrices);
    }
  });
  return to_host(are_allowed).front() == 1;
}

}  // namespace tessera
