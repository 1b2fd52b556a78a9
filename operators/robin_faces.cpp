#include "operators/robin_faces.hpp"

#include <cmath>

#include "mesh/errors.hpp"

namespace tessera {

std::vector<WeightedFace> make_weighted_faces(const StiffnessForm& form) {
  std::vector<WeightedFace> faces;
  for (const RobinTerm& term : form.robin) {
    WeightedFace face{make_face_quadrature(*form.discretization, term.face), {}};
    const FaceQuadrature& quadrature = face.quadrature;
    face.alpha_measure.resize(quadrature.measure.size());
    term.alpha.evaluate(quadrature.positions(), face.alpha_measure.data());
    for (std::size_t q = 0; q < quadrature.measure.size(); ++q) {
      const double alpha = face.alpha_measure[q];
      if (!(alpha >= 0.0) || !std::isfinite(alpha)) {
        throw BadFieldValue("alpha must be finite and not negative",
                            form.discretization->frame.physical(
                                {quadrature.x[q], quadrature.y[q], quadrature.z[q]}),
                            alpha);
      }
      face.alpha_measure[q] *= quadrature.measure[q];
    }
    faces.push_back(std::move(face));
  }
  return faces;
}

template <class T>
RobinFaces<T>::RobinFaces(const StiffnessForm& form)
    : lattice_(form.discretization->lattice),
      dirichlet_(form.dirichlet),
      faces_(make_weighted_faces(form)) {}

template <class T>
template <class F>
void RobinFaces<T>::for_each_cell(F&& f) const {
  for (const WeightedFace& face : faces_) {
    const FaceQuadrature& quadrature = face.quadrature;
    // Rows of face cells across the slowest tangential axis: every other row shares no node.
    const Index rows = quadrature.dimension == 3 ? quadrature.cells[1] : quadrature.cells[0];
    const Index row_cells = quadrature.cell_count() / rows;
    for (Index parity = 0; parity < 2; ++parity) {
#pragma omp parallel
      {
        std::vector<Index> nodes(quadrature.nodes_per_cell);
#pragma omp for schedule(static)
        for (Index row = parity; row < rows; row += 2) {
          for (Index i = 0; i < row_cells; ++i) {
            const Index cell = row * row_cells + i;
            quadrature.cell_nodes(cell, lattice_.degree(), nodes.data());
            f(face, cell, nodes.data());
          }
        }
      }
    }
  }
}

template <class T>
void RobinFaces<T>::add(const HostVector<T>& x, FaceRows rows, HostVector<T>& y) const {
  for_each_cell([&](const WeightedFace& face, Index cell, const Index* nodes) {
    const FaceQuadrature& quadrature = face.quadrature;
    const int n = quadrature.nodes_per_cell;
    // Asked once a node, not once a node and point: it costs divisions.
    std::vector<bool> used(n);
    for (int i = 0; i < n; ++i) {
      used[i] =
          rows == FaceRows::all || !lattice_.on_faces(lattice_.node_position(nodes[i]), dirichlet_);
    }
    for (int q = 0; q < quadrature.points_per_cell; ++q) {
      const double* shape = &quadrature.shape[q * n];
      double value = 0.0;
      for (int i = 0; i < n; ++i) {
        if (used[i]) value += shape[i] * static_cast<double>(x[nodes[i]]);
      }
      value *= face.alpha_measure[cell * quadrature.points_per_cell + q];
      for (int i = 0; i < n; ++i) {
        if (used[i]) y[nodes[i]] += static_cast<T>(shape[i] * value);
      }
    }
  });
}

template <class T>
void RobinFaces<T>::add_diagonal(HostVector<T>& d) const {
  for_each_cell([&](const WeightedFace& face, Index cell, const Index* nodes) {
    const FaceQuadrature& quadrature = face.quadrature;
    const int n = quadrature.nodes_per_cell;
    for (int i = 0; i < n; ++i) {
      double value = 0.0;
      for (int q = 0; q < quadrature.points_per_cell; ++q) {
        const double shape = quadrature.shape[q * n + i];
        value += shape * shape * face.alpha_measure[cell * quadrature.points_per_cell + q];
      }
      d[nodes[i]] += static_cast<T>(value);
    }
  });
}

template class RobinFaces<double>;
template class RobinFaces<float>;

}  // namespace tessera
