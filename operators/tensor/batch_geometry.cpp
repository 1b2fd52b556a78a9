// This file computes the geometric factors of mapped batches by sum factorization.
#include "operators/tensor/batch_geometry.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/geometry/geometric_factors.hpp"
#include "mesh/geometry/symmetric_factors.hpp"
#include "mesh/lanes/lane_parts.hpp"
#include "mesh/lanes/lane_rows.hpp"
#include "operators/cells/prefetch.hpp"
#include "operators/tensor/cell_3d.hpp"
#include "operators/tensor/with_rule.hpp"

namespace tessera {
namespace {

constexpr int kCells = kLanes<double>;

template <class T, int dim, int P, int M>
class MappedBatches final : public BatchGeometry<T> {
 public:
  MappedBatches(const BilinearForm& form, const CellBatches& batches)
      : discretization_(form.discretization),
        B_even_odd_(split_even_odd<double>(form.discretization->basis.B)),
        B_(B_even_odd_),
        G_(split_even_odd<double>(form.discretization->basis.G)),
        D_(split_even_odd<double>(form.discretization->basis.D)),
        weights_(tensor_weights(form.discretization->basis.quadrature, dim)),
        fields_(checked_fields<T>(*form.discretization, batches, form.coefficient, form.reaction,
                                  form.context())),
        reaction_weights_(weights_),
        reaction_(reaction_kind(form.reaction)) {
    for (double& weight : weights_) weight *= form.coefficient.constant.value_or(1.0);
    for (double& weight : reaction_weights_) weight *= form.reaction.constant.value_or(1.0);
  }

  ReactionKind reaction() const override { return reaction_; }
  Index scratch_size() const override {
    return kNodes + dim * (kVolume + kPlane) + (dim == 3 ? dim * kVolume : 0);
  }

  void evaluate(const CellBatch& batch, Lanes<T>* scratch, Lanes<T>* factors) const override {
    const auto of_batch = [&](const HostArray<Lanes<T>>& values) {
      return values.empty() ? nullptr : values.data() + batch.index * kVolume;
    };
    const Lanes<T>* k = of_batch(fields_.coefficient);
    const Lanes<T>* c = of_batch(fields_.reaction);
    // Lanes of double and float have the same size.
    auto* nodes = reinterpret_cast<Lanes<double>*>(scratch);
    Lanes<double>* values = nodes + kNodes;
    Lanes<double>* along_y = values + dim * kVolume;
    Lanes<double>* along_z = along_y + dim * kPlane;
    for (int lane = 0; lane < kLanes<T>; lane += kCells) {
      for (int a = 0; a < dim; ++a) {
        gather(batch, lane, discretization_->mapping.coordinate(a).data(), nodes);
        Lanes<double>* x = values + a * kVolume;
        if constexpr (dim == 2) {
          contract<M, kLine, Parity::even>(B_even_odd_, 1, kLine, nodes,
                                           along_y);                        // [n][n] -> [n][m]
          contract<M, kLine, Parity::even>(B_even_odd_, M, 1, along_y, x);  // [n][m] -> [m][m]
        } else {
          NothingAhead nothing;
          to_points_3d<Points::own>(B_, G_, nodes, x, kPlane, along_z + a * kVolume, nothing);
        }
      }
      for (int first = 0; first < kVolume; first += kPlane) {
        write_plane(first, values, along_y, along_z, k, c, lane, factors);
      }
    }
  }

  double flops_per_cell() const override {
    double sweeps = 2.0 * static_cast<double>(power(M, dim - 1)) * even_odd_line_flops(M, M);
    for (int d = 0; d < dim; ++d) {
      sweeps += static_cast<double>(power(M, d) * power(kLine, dim - 1 - d)) *
                even_odd_line_flops(M, kLine);
    }
    if (dim == 3) sweeps += kPlane * (M * kLine + M);  // lines are folded already
    const double at_point = symmetric_factor_flops(dim) +
                            (fields_.coefficient.empty() ? 0.0 : 1.0) +
                            (reaction_ == ReactionKind::none ? 0.0
                             : dim == 2                      ? 5.0
                                                             : 16.0);
    return dim * sweeps + kVolume * at_point;
  }

  Index bytes() const override {
    return static_cast<Index>((fields_.coefficient.size() + fields_.reaction.size()) *
                              sizeof(Lanes<T>));
  }
  Index streamed_bytes() const override { return bytes() + discretization_->mapping.bytes(); }

 private:
  static constexpr int kLine = P + 1;
  static constexpr int kPlane = M * M;
  static constexpr int kVolume = static_cast<int>(power(M, dim));
  static constexpr int kNodes = static_cast<int>(power(kLine, dim));

  // x at the nodes of kCells cells of the batch from this lane on.
  void gather(const CellBatch& batch, int lane, const double* x, Lanes<double>* nodes) const {
    const NodeLattice& lattice = discretization_->lattice;
    if (!batch.is_row) {
      gather_cells(lattice, std::span(batch.cells.data() + lane, kCells), x, nodes);
      return;
    }
    const double* corner = x + lattice.first_node(batch.cells[lane]);
    const Index to_next = lattice.first_node(batch.next) - lattice.first_node(batch.cells[0]);
    for (int line = 0; line < kNodes / kLine; ++line) {
      const double* row =
          corner + line % kLine * lattice.stride(1) + line / kLine * lattice.stride(2);
      load_cell_row<P>(row, nodes + line * kLine);
      Prefetch<P>(row + to_next).advance();
    }
  }

  // The factors of the plane of points from `first` on.
  void write_plane(int first, const Lanes<double>* values, Lanes<double>* along_y,
                   const Lanes<double>* along_z, const Lanes<T>* k, const Lanes<T>* c, int lane,
                   Lanes<T>* factors) const {
    constexpr int kEntries = factor_entries(dim);
    for (int a = 0; a < dim; ++a) {
      for (int i = 0; i < M; ++i) {
        differentiate(values + a * kVolume + first + i, M, along_y + a * kPlane + i);
      }
    }
    for (int line = 0; line < kPlane; line += M) {
      Lanes<double> along_x[dim][M];
      for (int a = 0; a < dim; ++a) {
        differentiate(values + a * kVolume + first + line, 1, along_x[a]);
      }
      for (int i = 0; i < M; ++i) {
        const int q = first + line + i;
        Lanes<double> J[dim][dim];
        for (int a = 0; a < dim; ++a) {
          J[a][0] = along_x[a][i];
          J[a][1] = along_y[a * kPlane + line + i];
          if constexpr (dim == 3) J[a][2] = along_z[a * kVolume + q];
        }
        Lanes<double> scale = broadcast(weights_[q]);
        if (k != nullptr) scale *= load_part<Lanes<double>>(k[q], lane);
        Lanes<double> entries[kEntries];
        symmetric_factors<dim>(J, scale, entries);
        for (int entry = 0; entry < kEntries; ++entry) {
          store_part(entries[entry], factors[q * kEntries + entry], lane);
        }
        if (reaction_ == ReactionKind::none) continue;
        Lanes<double> reaction = reaction_weights_[q] * determinant(J);
        if (c != nullptr) reaction *= load_part<Lanes<double>>(c[q], lane);
        store_part(reaction, factors[kVolume * kEntries + q], lane);
      }
    }
  }

  // A line of points: to = D from.
  void differentiate(const Lanes<double>* from, int stride, Lanes<double>* to) const {
    FoldedLine<double, M> derivative;
    add_product<Parity::odd>(D_, fold<double, M>(from, stride), derivative);
    unfold(derivative, to, stride);
  }

  const Discretization* discretization_;
  EvenOddMatrix<double> B_even_odd_;
  LineMatrix<double, M, kLine> B_, G_;
  LineMatrix<double, M, M> D_;
  std::vector<double> weights_;           // w_q, times k if it is constant
  FieldsAtPoints<T> fields_;              // what varies
  std::vector<double> reaction_weights_;  // w_q, times c if it is constant
  ReactionKind reaction_;
};

}  // namespace

template <class T>
std::unique_ptr<const BatchGeometry<T>> make_batch_geometry(const BilinearForm& form,
                                                            const CellBatches& batches) {
  if (form.discretization->mapping.is_cartesian()) {
    throw std::invalid_argument("geometry on the fly is for mapped meshes");
  }
  const Basis1D& basis = form.discretization->basis;
  using Geometry = std::unique_ptr<const BatchGeometry<T>>;
  return with_rule(basis.degree, basis.point_count(), [&]<int P, int M>() -> Geometry {
    if constexpr (P > 0) {
      if (form.discretization->mesh.dimension() == 2) {
        return std::make_unique<MappedBatches<T, 2, P, M>>(form, batches);
      }
      return std::make_unique<MappedBatches<T, 3, P, M>>(form, batches);
    } else {
      throw std::invalid_argument("no geometry on the fly for this degree and rule");
    }
  });
}

template std::unique_ptr<const BatchGeometry<double>> make_batch_geometry(const BilinearForm&,
                                                                          const CellBatches&);
template std::unique_ptr<const BatchGeometry<float>> make_batch_geometry(const BilinearForm&,
                                                                         const CellBatches&);

}  // namespace tessera
