// This file compiles and launches the kernels that compute factors with one thread a line.
#include "mesh/with_constant.hpp"
#include "operators/tensor/gpu/factor_lines.cuh"
#include "operators/tensor/gpu/factor_lines.hpp"

namespace tessera {

bool has_factors_by_lines(const Basis1D& basis, const GeometryArguments& arguments) {
  const auto is_shallow = [](const GeometryArguments::Field& field) {
    return field.in_kernel.field.depth <= kLineDepth;
  };
  return has_points_on_lines(arguments.grid.dimension, basis) && arguments.points.nodes.is_mapped &&
         is_shallow(arguments.fields[0]) && is_shallow(arguments.fields[1]);
}

void make_factors_by_lines(const Basis1D& basis, const GeometryArguments& arguments, Index stride,
                           RoundedValues factors, RoundedValues reaction, Index* inverted) {
  with_constant<2, kMaxFixedPoints>(basis.point_count(), [&]<int m>() {
    const FieldsAre fields = fields_of(arguments);
    launch(fields == FieldsAre::given    ? factor_lines_kernel<m, FieldsAre::given>
           : fields == FieldsAre::values ? factor_lines_kernel<m, FieldsAre::values>
                                         : factor_lines_kernel<m, FieldsAre::any>,
           launch_on_lines<m>("geometric factors", arguments.count), arguments,
           PointMatrices<m>(basis), stride, factors, reaction, inverted);
  });
}

}  // namespace tessera
