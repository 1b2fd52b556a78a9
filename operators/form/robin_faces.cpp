// This file sums over Robin faces on the host.
#include "operators/form/robin_faces.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "mesh/errors.hpp"
#include "mesh/partition.hpp"

namespace tessera {

namespace {

std::array<std::array<bool, 2>, 2> fixed_ends(const FaceQuadrature& face, FaceSet dirichlet) {
  std::array<std::array<bool, 2>, 2> fixed{};
  for (int t = 0; t < face.dimension - 1; ++t) {
    for (int side = 0; side < 2; ++side) fixed[t][side] = dirichlet[2 * face.nodes.axes[t] + side];
  }
  return fixed;
}

}  // namespace

std::vector<WeightedFace> make_weighted_faces(const BilinearForm& form) {
  std::vector<WeightedFace> faces;
  for (const RobinTerm& term : form.robin) {
    WeightedFace face{make_face_quadrature(*form.discretization, term.face), {}, {}};
    const FaceQuadrature& quadrature = face.quadrature;
    face.fixed_ends = fixed_ends(quadrature, form.dirichlet);
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
RobinFaces<T>::RobinFaces(const BilinearForm& form)
    : lattice_(form.discretization->lattice), faces_(make_weighted_faces(form)) {
  if (empty()) return;
  const FaceQuadrature& any = faces_.front().quadrature;
  for (int i = 0; i < any.nodes_per_cell; ++i) {
    for (int q = 0; q < any.points_per_cell; ++q) {
      shape_by_nodes_.push_back(any.shape[q * any.nodes_per_cell + i]);
    }
  }
}

/// A face cell and where its nodes are: node (i, j) is first + i strides[0] + j strides[1].
template <class T>
struct RobinFaces<T>::FaceCell {
  const WeightedFace& face;
  std::array<Index, 2> position;
  Index first;

  /// alpha_q dS_q, [q].
  const double* weights() const {
    const FaceQuadrature& quadrature = face.quadrature;
    return &face.alpha_measure[(position[0] + quadrature.cells[0] * position[1]) *
                               quadrature.points_per_cell];
  }
  /// The nodes along tangential axis t, of `count`, that take part.
  Range nodes(int t, int count, FaceRows rows) const {
    if (rows == FaceRows::all) return {0, count};
    const bool at_begin = position[t] == 0;
    const bool at_end = position[t] + 1 == face.quadrature.cells[t];
    return {at_begin && face.fixed_ends[t][0] ? 1 : 0,
            at_end && face.fixed_ends[t][1] ? count - 1 : count};
  }
};

template <class T>
template <class F>
void RobinFaces<T>::for_each_cell(F&& f) const {
  const Index p = lattice_.degree();
#pragma omp parallel
  for (const WeightedFace& face : faces_) {
    const FaceQuadrature& quadrature = face.quadrature;
    const auto visit = [&](Index a, Index b) {
      f(FaceCell{face, {a, b}, quadrature.nodes.node(p * a, p * b)});
    };
    // Rows of face cells across the slowest tangential axis: every other row shares no node.
    const bool is_surface = quadrature.dimension == 3;
    const Index rows = is_surface ? quadrature.cells[1] : quadrature.cells[0];
    const Index row_cells = is_surface ? quadrature.cells[0] : 1;
    for (Index parity = 0; parity < 2; ++parity) {
#pragma omp for schedule(static)
      for (Index row = parity; row < rows; row += 2) {
        for (Index i = 0; i < row_cells; ++i) is_surface ? visit(i, row) : visit(row, 0);
      }
    }
  }
}

template <class T>
void RobinFaces<T>::add(const HostVector<T>& x, FaceRows rows, HostVector<T>& y) const {
  if (empty()) return;
  const FaceQuadrature& any = faces_.front().quadrature;
  const int n = any.nodes_per_cell;
  const int columns = lattice_.degree() + 1;
  const int points = any.points_per_cell;
  // u, v and values at points of each thread, made here because nothing may throw inside a parallel
  // region; apart, so that threads share no cache line.
  constexpr int kApart = 16;
  const std::size_t stride = 2 * static_cast<std::size_t>(n) + points + kApart;
  std::vector<double> scratch(stride * omp_get_max_threads());
  for_each_cell([&](const FaceCell& cell) {
    const FaceQuadrature& quadrature = cell.face.quadrature;
    const auto& strides = quadrature.nodes.strides;
    const Range along = cell.nodes(0, columns, rows);
    const Range across = cell.nodes(1, n / columns, rows);
    double* const u = &scratch[stride * omp_get_thread_num()];
    double* const v = u + n;
    double* const at_points = v + n;
    std::fill(u, at_points + points, 0.0);
    for (Index j = across.begin; j < across.end; ++j) {
      const T* const from = x.data() + cell.first + j * strides[1];
      for (Index i = along.begin; i < along.end; ++i) {
        u[j * columns + i] = static_cast<double>(from[i * strides[0]]);
      }
    }
    const double* const weights = cell.weights();
    for (int i = 0; i < n; ++i) {
      const double* const shape = &shape_by_nodes_[static_cast<std::size_t>(i) * points];
#pragma omp simd
      for (int q = 0; q < points; ++q) at_points[q] += shape[q] * u[i];
    }
    for (int q = 0; q < points; ++q) {
      const double* const shape = &quadrature.shape[q * n];
      const double value = weights[q] * at_points[q];
#pragma omp simd
      for (int i = 0; i < n; ++i) v[i] += shape[i] * value;
    }
    for (Index j = across.begin; j < across.end; ++j) {
      T* const to = y.data() + cell.first + j * strides[1];
      for (Index i = along.begin; i < along.end; ++i) {
        to[i * strides[0]] += static_cast<T>(v[j * columns + i]);
      }
    }
  });
}

template <class T>
void RobinFaces<T>::add_diagonal(HostVector<T>& d) const {
  for_each_cell([&](const FaceCell& cell) {
    const FaceQuadrature& quadrature = cell.face.quadrature;
    const auto& strides = quadrature.nodes.strides;
    const int n = quadrature.nodes_per_cell;
    const int columns = lattice_.degree() + 1;
    const double* const weights = cell.weights();
    for (int i = 0; i < n; ++i) {
      double value = 0.0;
      for (int q = 0; q < quadrature.points_per_cell; ++q) {
        const double shape = quadrature.shape[q * n + i];
        value += shape * shape * weights[q];
      }
      d[cell.first + i % columns * strides[0] + i / columns * strides[1]] += static_cast<T>(value);
    }
  });
}

template class RobinFaces<double>;
template class RobinFaces<float>;

}  // namespace tessera
