// This file evaluates what is given on Dirichlet faces.
#include "operators/load/dirichlet_values.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/partition.hpp"
#include "operators/form/finite_values.hpp"
#include "operators/form/on_all_ranks.hpp"

namespace tessera {
namespace {

constexpr Index kNodeBlock = 1024;

FaceValues values_on_face(const Discretization& discretization, int face,
                          const ScalarField& field) {
  const FaceNodes nodes = face_nodes(discretization.lattice, face);
  FaceValues result{nodes, std::vector<double>(static_cast<std::size_t>(nodes.count()))};
  if (field.constant && std::isfinite(*field.constant)) {
    std::fill(result.values.begin(), result.values.end(), *field.constant);
    return result;
  }
  parallel_ranges(ceil_div(nodes.count(), kNodeBlock), [&](Range range) {
    std::vector<Index> indices(kNodeBlock);
    std::vector<double> x(kNodeBlock), y(kNodeBlock), z(kNodeBlock);
    for (Index block = range.begin; block < range.end; ++block) {
      const Index begin = block * kNodeBlock;
      const auto count = static_cast<std::size_t>(std::min(kNodeBlock, nodes.count() - begin));
      for (std::size_t i = 0; i < count; ++i) {
        const Index k = begin + static_cast<Index>(i);
        indices[i] = nodes.node(k % nodes.counts[0], k / nodes.counts[0]);
      }
      discretization.mapping.node_positions({indices.data(), count}, x.data(), y.data(), z.data());
      const PointBlock points{count, x.data(), y.data(), z.data()};
      double* const values = result.values.data() + begin;
      field.evaluate(points, values);
      require_finite("the boundary value", points, {values, count}, discretization.frame);
    }
  });
  return result;
}

}  // namespace

DirichletValues::DirichletValues(const Discretization& discretization, FaceSet dirichlet,
                                 const std::vector<ScalarField>& fields) {
  for (int face = face_count(discretization.lattice.dimension()) - 1; face >= 0; --face) {
    if (dirichlet[face]) faces_.push_back(values_on_face(discretization, face, fields[face]));
  }
}

DirichletValues::DirichletValues(const BilinearForm& form, const std::vector<ScalarField>& fields)
    : DirichletValues(on_all_ranks(
          form, [&] { return DirichletValues(*form.discretization, form.dirichlet, fields); })) {}

double DirichletValues::largest() const {
  double result = 0.0;
  for (const FaceValues& face : faces_) {
    for (const double value : face.values) result = std::max(result, std::abs(value));
  }
  return result;
}

void DirichletValues::multiply(double factor) {
  for (FaceValues& face : faces_) {
    for (double& value : face.values) value *= factor;
  }
}

void DirichletValues::set(HostVector<double>& u) const {
  for (const FaceValues& face : faces_) tessera::set(face, u);
}

}  // namespace tessera
