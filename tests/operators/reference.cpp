// This file evaluates the form by plain loops.
#include "tests/operators/reference.hpp"

#include <cmath>

namespace tessera::testing {
namespace {

struct Lagrange {
  double value;
  double derivative;
};

// Product rule, factor by factor.
Lagrange lagrange(const std::vector<double>& nodes, std::size_t i, double x) {
  long double value = 1.0L;
  long double derivative = 0.0L;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    if (j == i) continue;
    const long double width = static_cast<long double>(nodes[i]) - nodes[j];
    const long double factor = (static_cast<long double>(x) - nodes[j]) / width;
    derivative = derivative * factor + value / width;
    value *= factor;
  }
  return {static_cast<double>(value), static_cast<double>(derivative)};
}

double value_at(const ScalarField& field, const Point& point) {
  double value = 0.0;
  field.evaluate({1, point.data(), &point[1], &point[2]}, &value);
  return value;
}

double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

Reference::Reference(const BilinearForm& form)
    : form_(&form),
      dimension_(form.discretization->mesh.dimension()),
      degree_(form.discretization->basis.degree),
      cells_(form.discretization->mesh.cells()),
      counts_{1, 1, 1},
      nodes_(make_nodes(form.discretization->basis.family, degree_)),
      quadrature_(make_quadrature(form.discretization->basis.rule,
                                  form.discretization->basis.point_count())) {
  for (int d = 0; d < dimension_; ++d) counts_[d] = cells_[d] * degree_ + 1;
  for (auto& coordinate : positions_) coordinate.resize(static_cast<std::size_t>(size()));
  form.discretization->mapping.node_positions(0, size(), positions_[0].data(), positions_[1].data(),
                                              positions_[2].data());
}

bool Reference::is_constrained(Index node) const {
  const IndexTriple position = {node % counts_[0], node / counts_[0] % counts_[1],
                                node / (counts_[0] * counts_[1])};
  for (int d = 0; d < dimension_; ++d) {
    if (form_->dirichlet[2 * d] && position[d] == 0) return true;
    if (form_->dirichlet[2 * d + 1] && position[d] == counts_[d] - 1) return true;
  }
  return false;
}

std::vector<Index> Reference::cell_nodes(const IndexTriple& cell) const {
  std::vector<Index> nodes;
  for (int iz = 0; iz <= (dimension_ == 3 ? degree_ : 0); ++iz) {
    for (int iy = 0; iy <= degree_; ++iy) {
      for (int ix = 0; ix <= degree_; ++ix) {
        const Index gx = cell[0] * degree_ + ix;
        const Index gy = cell[1] * degree_ + iy;
        const Index gz = cell[2] * degree_ + iz;
        nodes.push_back(gx + counts_[0] * (gy + counts_[1] * gz));
      }
    }
  }
  return nodes;
}

Reference::AtPoint Reference::evaluate(const std::vector<Index>& nodes, const Point& xi,
                                       double weight, int normal) const {
  std::array<std::vector<Lagrange>, 3> line;
  for (int d = 0; d < 3; ++d) {
    if (d >= dimension_) {
      line[d].push_back({1.0, 0.0});
      continue;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) line[d].push_back(lagrange(nodes_, i, xi[d]));
  }
  AtPoint at{0.0, {}, {}, {}};
  for (const Lagrange& z : line[2]) {
    for (const Lagrange& y : line[1]) {
      for (const Lagrange& x : line[0]) {
        at.phi.push_back(x.value * y.value * z.value);
        at.gradient.push_back({x.derivative * y.value * z.value, x.value * y.derivative * z.value,
                               x.value * y.value * z.derivative});
      }
    }
  }
  // tangent[b] = dx / dxi_b; in 2D the third is the unit vector out of the plane.
  std::array<Point, 3> tangent{};
  if (dimension_ == 2) tangent[2][2] = 1.0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (int a = 0; a < 3; ++a) {
      const double coordinate = positions_[a][static_cast<std::size_t>(nodes[i])];
      at.where[a] += at.phi[i] * coordinate;
      for (int b = 0; b < dimension_; ++b) tangent[b][a] += at.gradient[i][b] * coordinate;
    }
  }
  // Rows of J^-1 are the cross products of the other two tangents over the determinant.
  const double determinant = dot(tangent[0], cross(tangent[1], tangent[2]));
  std::array<Point, 3> dual;
  for (int b = 0; b < 3; ++b) {
    dual[b] = cross(tangent[(b + 1) % 3], tangent[(b + 2) % 3]);
    for (double& component : dual[b]) component /= determinant;
  }
  for (Point& gradient : at.gradient) {
    Point physical{};
    for (int b = 0; b < dimension_; ++b) {
      for (int a = 0; a < 3; ++a) physical[a] += dual[b][a] * gradient[b];
    }
    gradient = physical;
  }
  at.measure = weight * determinant;
  // Nanson: the surface element is |J| |J^-T n|.
  if (normal >= 0) at.measure *= std::sqrt(dot(dual[normal], dual[normal]));
  return at;
}

template <class F>
void Reference::for_each_cell_point(F&& f) const {
  const int m = static_cast<int>(quadrature_.points.size());
  for (Index cz = 0; cz < cells_[2]; ++cz) {
    for (Index cy = 0; cy < cells_[1]; ++cy) {
      for (Index cx = 0; cx < cells_[0]; ++cx) {
        const std::vector<Index> nodes = cell_nodes({cx, cy, cz});
        for (int qz = 0; qz < (dimension_ == 3 ? m : 1); ++qz) {
          for (int qy = 0; qy < m; ++qy) {
            for (int qx = 0; qx < m; ++qx) {
              const Point xi = {quadrature_.points[qx], quadrature_.points[qy],
                                dimension_ == 3 ? quadrature_.points[qz] : 0.0};
              const double weight = quadrature_.weights[qx] * quadrature_.weights[qy] *
                                    (dimension_ == 3 ? quadrature_.weights[qz] : 1.0);
              f(nodes, evaluate(nodes, xi, weight, -1));
            }
          }
        }
      }
    }
  }
}

template <class F>
void Reference::for_each_face_point(int face, F&& f) const {
  const int normal = face / 2;
  const bool upper = face % 2 == 1;
  const int m = static_cast<int>(quadrature_.points.size());
  for (Index c = 0; c < cells_[0] * cells_[1] * cells_[2]; ++c) {
    const IndexTriple cell = {c % cells_[0], c / cells_[0] % cells_[1],
                              c / (cells_[0] * cells_[1])};
    if (cell[normal] != (upper ? cells_[normal] - 1 : 0)) continue;
    const std::vector<Index> nodes = cell_nodes(cell);
    for (int q = 0; q < (dimension_ == 3 ? m * m : m); ++q) {
      Point xi{};
      double weight = 1.0;
      int rest = q;
      for (int d = 0; d < dimension_; ++d) {
        if (d == normal) {
          xi[d] = upper ? 1.0 : 0.0;
          continue;
        }
        xi[d] = quadrature_.points[rest % m];
        weight *= quadrature_.weights[rest % m];
        rest /= m;
      }
      f(nodes, evaluate(nodes, xi, weight, normal));
    }
  }
}

std::vector<double> Reference::apply_form(const std::vector<double>& x) const {
  std::vector<double> y(static_cast<std::size_t>(size()), 0.0);
  for_each_cell_point([&](const std::vector<Index>& nodes, const AtPoint& at) {
    Point gradient{};
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      for (int a = 0; a < 3; ++a) gradient[a] += at.gradient[j][a] * x[nodes[j]];
    }
    double value = 0.0;
    for (std::size_t j = 0; j < nodes.size(); ++j) value += at.phi[j] * x[nodes[j]];
    const double scale = at.measure * value_at(form_->coefficient, at.where);
    const double reaction = at.measure * value_at(form_->reaction, at.where) * value;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      y[nodes[i]] += scale * dot(at.gradient[i], gradient) + reaction * at.phi[i];
    }
  });
  for (const RobinTerm& term : form_->robin) {
    for_each_face_point(term.face, [&](const std::vector<Index>& nodes, const AtPoint& at) {
      double value = 0.0;
      for (std::size_t j = 0; j < nodes.size(); ++j) value += at.phi[j] * x[nodes[j]];
      value *= at.measure * value_at(term.alpha, at.where);
      for (std::size_t i = 0; i < nodes.size(); ++i) y[nodes[i]] += at.phi[i] * value;
    });
  }
  return y;
}

std::vector<double> Reference::apply(const std::vector<double>& x) const {
  std::vector<double> free = x;
  for (Index i = 0; i < size(); ++i) {
    if (is_constrained(i)) free[i] = 0.0;
  }
  std::vector<double> y = apply_form(free);
  for (Index i = 0; i < size(); ++i) {
    if (is_constrained(i)) y[i] = x[i];
  }
  return y;
}

std::vector<double> Reference::magnitude(const std::vector<double>& x) const {
  std::vector<double> y(static_cast<std::size_t>(size()), 0.0);
  const auto free = [&](Index node) { return is_constrained(node) ? 0.0 : std::abs(x[node]); };
  for_each_cell_point([&](const std::vector<Index>& nodes, const AtPoint& at) {
    // By length: rotated axes have other components.
    double gradient = 0.0;
    double value = 0.0;
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      gradient += std::sqrt(dot(at.gradient[j], at.gradient[j])) * free(nodes[j]);
      value += std::abs(at.phi[j]) * free(nodes[j]);
    }
    const double scale = at.measure * value_at(form_->coefficient, at.where) * gradient;
    const double reaction = at.measure * value_at(form_->reaction, at.where) * value;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      y[nodes[i]] +=
          scale * std::sqrt(dot(at.gradient[i], at.gradient[i])) + reaction * std::abs(at.phi[i]);
    }
  });
  for (const RobinTerm& term : form_->robin) {
    for_each_face_point(term.face, [&](const std::vector<Index>& nodes, const AtPoint& at) {
      double value = 0.0;
      for (std::size_t j = 0; j < nodes.size(); ++j) value += std::abs(at.phi[j]) * free(nodes[j]);
      value *= at.measure * value_at(term.alpha, at.where);
      for (std::size_t i = 0; i < nodes.size(); ++i) y[nodes[i]] += std::abs(at.phi[i]) * value;
    });
  }
  for (Index i = 0; i < size(); ++i) {
    if (is_constrained(i)) y[i] = std::abs(x[i]);
  }
  return y;
}

std::vector<double> Reference::diagonal() const {
  std::vector<double> d(static_cast<std::size_t>(size()), 0.0);
  for_each_cell_point([&](const std::vector<Index>& nodes, const AtPoint& at) {
    const double scale = at.measure * value_at(form_->coefficient, at.where);
    const double reaction = at.measure * value_at(form_->reaction, at.where);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      d[nodes[i]] += scale * dot(at.gradient[i], at.gradient[i]) + reaction * at.phi[i] * at.phi[i];
    }
  });
  for (const RobinTerm& term : form_->robin) {
    for_each_face_point(term.face, [&](const std::vector<Index>& nodes, const AtPoint& at) {
      const double scale = at.measure * value_at(term.alpha, at.where);
      for (std::size_t i = 0; i < nodes.size(); ++i) d[nodes[i]] += scale * at.phi[i] * at.phi[i];
    });
  }
  for (Index i = 0; i < size(); ++i) {
    if (is_constrained(i)) d[i] = 1.0;
  }
  return d;
}

std::vector<double> Reference::load(const ScalarField& source, const std::vector<FluxTerm>& fluxes,
                                    const std::vector<double>& u) const {
  std::vector<double> lifted(static_cast<std::size_t>(size()), 0.0);
  for (Index i = 0; i < size(); ++i) {
    if (is_constrained(i)) lifted[i] = u[i];
  }
  std::vector<double> b = apply_form(lifted);
  for (double& value : b) value = -value;
  const auto add = [&](const ScalarField& field, const std::vector<Index>& nodes,
                       const AtPoint& at) {
    const double value = at.measure * value_at(field, at.where);
    for (std::size_t i = 0; i < nodes.size(); ++i) b[nodes[i]] += at.phi[i] * value;
  };
  for_each_cell_point(
      [&](const std::vector<Index>& nodes, const AtPoint& at) { add(source, nodes, at); });
  for (const FluxTerm& flux : fluxes) {
    for_each_face_point(flux.face, [&](const std::vector<Index>& nodes, const AtPoint& at) {
      add(flux.value, nodes, at);
    });
  }
  for (Index i = 0; i < size(); ++i) {
    if (is_constrained(i)) b[i] = u[i];
  }
  return b;
}

double Reference::face_area(int face) const {
  double area = 0.0;
  for_each_face_point(face,
                      [&](const std::vector<Index>&, const AtPoint& at) { area += at.measure; });
  return area;
}

double Reference::volume() const {
  double volume = 0.0;
  for_each_cell_point([&](const std::vector<Index>&, const AtPoint& at) { volume += at.measure; });
  return volume;
}

}  // namespace tessera::testing
