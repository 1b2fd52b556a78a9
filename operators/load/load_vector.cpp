// This file assembles the right-hand side and lifts Dirichlet values.
#include "operators/load/load_vector.hpp"

#include <algorithm>

#include "mesh/geometry/cell_geometry.hpp"
#include "mesh/lanes/cell_batches.hpp"
#include "operators/cells/add_to_cell.hpp"
#include "operators/cells/scatter.hpp"
#include "operators/form/constrained_rows.hpp"
#include "operators/form/finite_values.hpp"
#include "operators/form/on_all_ranks.hpp"
#include "operators/form/robin_faces.hpp"

namespace tessera {
namespace {

// Bricks for this many threads, however many there are: their shape orders the additions, and the
// load shall be the same bits for any number of threads.
constexpr int kThreadsToCutFor = 16;

// Whether cells have nodes on these faces.
bool touches(const BoxMesh& mesh, const CellBox& cells, FaceSet faces) {
  for (int d = 0; d < mesh.dimension(); ++d) {
    if (faces[2 * d] && cells.first[d] == 0) return true;
    if (faces[2 * d + 1] && cells.first[d] + cells.counts[d] == mesh.cells()[d]) return true;
  }
  return false;
}

/// The cell integrals of the load, one object a brick.
class CellLoads {
 public:
  /// @param state u at the nodes, which the fields may depend on; may be null
  CellLoads(const BilinearForm& form, const ScalarField& source, const double* state,
            const HostVector<double>& lifted)
      : form_(form),
        source_(source),
        lifted_(lifted),
        geometry_(*form.discretization, form.discretization->basis, state),
        points_(static_cast<std::size_t>(geometry_.points_per_cell())),
        nodes_(static_cast<std::size_t>(geometry_.evaluator().nodes_per_cell())),
        field_(points_ * kLanes<double>),
        integrand_(points_),
        u_(nodes_),
        v_(nodes_) {
    for (auto& component : gradient_) component.resize(points_);
  }

  /// v[i] = (f, phi_i) - a(g_h, phi_i) on each cell of the batch.
  const Lanes<double>* compute(std::span<const IndexTriple> cells, bool lift) {
    geometry_.evaluate(cells);
    if (is_zero(source_)) {
      std::fill(v_.begin(), v_.end(), Lanes<double>{});
    } else {
      source_.evaluate(geometry_.positions(), field_.data());
      require_finite("the source", geometry_.positions(), field_, form_.discretization->frame);
      for (std::size_t q = 0; q < points_; ++q) {
        integrand_[q] = field_lanes(q) * geometry_.determinant()[q] * geometry_.weights()[q];
      }
      geometry_.evaluator().integrate_values(integrand_.data(), v_.data());
    }
    if (lift) subtract_lifted(cells);
    return v_.data();
  }

 private:
  Lanes<double> field_lanes(std::size_t q) const {
    Lanes<double> values;
    for (int lane = 0; lane < kLanes<double>; ++lane) {
      values[lane] = field_[q * kLanes<double> + lane];
    }
    return values;
  }

  void subtract_lifted(std::span<const IndexTriple> cells) {
    const int dimension = form_.discretization->mesh.dimension();
    gather_cells(form_.discretization->lattice, cells, lifted_.data(), u_.data());
    std::array<Lanes<double>*, 3> gradient{};
    for (int a = 0; a < dimension; ++a) gradient[a] = gradient_[a].data();
    geometry_.evaluator().gradient(u_.data(), gradient);
    form_.coefficient.evaluate(geometry_.positions(), field_.data());
    for (std::size_t q = 0; q < points_; ++q) multiply_by_minus_d(q, dimension);
    geometry_.evaluator().add_integrated_gradient(gradient, v_.data());
    if (reaction_kind(form_.reaction) != ReactionKind::none) subtract_reaction();
  }

  // v[i] -= (c g_h, phi_i), g_h being u_.
  void subtract_reaction() {
    form_.reaction.evaluate(geometry_.positions(), field_.data());
    geometry_.evaluator().values(u_.data(), integrand_.data());
    for (std::size_t q = 0; q < points_; ++q) {
      integrand_[q] *= -field_lanes(q) * geometry_.determinant()[q] * geometry_.weights()[q];
    }
    geometry_.evaluator().integrate_values(integrand_.data(), u_.data());
    for (std::size_t i = 0; i < nodes_; ++i) v_[i] += u_[i];
  }

  // gradient = -w |J| k J^-1 J^-T gradient at point q.
  void multiply_by_minus_d(std::size_t q, int dimension) {
    const auto J = [&](int a, int b) { return geometry_.jacobian(a, b)[q]; };
    const Lanes<double> determinant = geometry_.determinant()[q];
    Lanes<double> inverse[3][3];  // inverse[b][a] = dxi_b / dx_a
    if (dimension == 2) {
      inverse[0][0] = J(1, 1) / determinant;
      inverse[0][1] = -J(0, 1) / determinant;
      inverse[1][0] = -J(1, 0) / determinant;
      inverse[1][1] = J(0, 0) / determinant;
    } else {
      const bool cartesian = form_.discretization->mapping.is_cartesian();
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          if (cartesian) {
            inverse[b][a] = a == b ? 1.0 / J(a, a) : Lanes<double>{};
          } else {
            inverse[b][a] = geometry_.cofactor(a, b, q) / determinant;
          }
        }
      }
    }
    Lanes<double> physical[3];
    for (int a = 0; a < dimension; ++a) {
      physical[a] = Lanes<double>{};
      for (int b = 0; b < dimension; ++b) physical[a] += inverse[b][a] * gradient_[b][q];
    }
    const Lanes<double> scale = -geometry_.weights()[q] * determinant * field_lanes(q);
    for (int b = 0; b < dimension; ++b) {
      gradient_[b][q] = Lanes<double>{};
      for (int a = 0; a < dimension; ++a) gradient_[b][q] += scale * inverse[b][a] * physical[a];
    }
  }

  const BilinearForm& form_;
  const ScalarField& source_;
  const HostVector<double>& lifted_;
  CellGeometry geometry_;
  std::size_t points_;
  std::size_t nodes_;
  std::vector<double> field_;
  HostArray<Lanes<double>> integrand_, u_, v_;
  std::array<HostArray<Lanes<double>>, 3> gradient_;
};

// b_i = (f, phi_i) - a(g, phi_i) over the batches with cells for which `lifts` says so, and
// (f, phi_i) over the others.
template <class Lifts>
void assemble_cells(const BilinearForm& form, const ScalarField& source, const double* state,
                    const HostVector<double>& lifted, Lifts&& lifts, HostVector<double>& b) {
  const NodeLattice& lattice = form.discretization->lattice;
  const CellBatches batches(form.discretization->mesh, kLanes<double>,
                            2 * sizeof(double) * power(lattice.degree(), lattice.dimension()),
                            kThreadsToCutFor);
  std::exception_ptr failure;
  make_scatter<double>("coloring", batches, lattice)
      ->run(
          [&](const Brick& brick, const AddTarget<double>& target) {
            const bool brick_lifts = lifts(CellBox{brick.first, brick.count});
            if (is_zero(source) && !brick_lifts) return;
            try {
              CellLoads loads(form, source, state, lifted);
              batches.for_each_batch(brick, [&](const CellBatch& batch) {
                const std::span<const IndexTriple> cells(batch.cells.data(), kLanes<double>);
                const bool lift = brick_lifts && std::any_of(cells.begin(), cells.end(),
                                                             [&](const IndexTriple& cell) {
                                                               return lifts({cell, {1, 1, 1}});
                                                             });
                if (is_zero(source) && !lift) return;
                const Lanes<double>* v = loads.compute(cells, lift);
                for (int lane = 0; lane < batch.active; ++lane) {
                  add_to_cell(lattice, batch.cells[lane], v, lane, target.values);
                }
              });
            } catch (...) {
#pragma omp critical(tessera_load_failure)
              if (!failure) failure = std::current_exception();
            }
          },
          b);
  if (failure) std::rethrow_exception(failure);
}

// The summand of the rank's part in assemble_load().
void assemble_own_load(const BilinearForm& form, const ScalarField& source,
                       const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                       HostVector<double>& b) {
  const Discretization& discretization = *form.discretization;
  const BoxMesh& mesh = discretization.mesh;
  const NodeLattice& lattice = discretization.lattice;
  const bool has_lift = !g.are_zero();
  HostVector<double> lifted(has_lift ? lattice.size() : 0);
  if (has_lift) g.set(lifted);

  assemble_cells(
      form, source, form.context().u, lifted,
      [&](const CellBox& cells) { return has_lift && touches(mesh, cells, form.dirichlet); }, b);
  for (const FaceValues& face : flux_loads(form, fluxes)) add(face, b);
  const RobinFaces<double> robin(form);
  if (has_lift && !robin.empty()) {
    HostVector<double> boundary(lattice.size());
    robin.add(lifted, FaceRows::all, boundary);
    axpy(-1.0, boundary, b);
  }
  clear_constrained_rows(form, b);
}

// The same of assemble_residual().
void assemble_own_residual(const BilinearForm& form, const ScalarField& source,
                           const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
                           HostVector<double>& r) {
  assemble_cells(
      form, source, u.data(), u, [](const CellBox&) { return true; }, r);
  for (const FaceValues& face : flux_loads(form, fluxes)) add(face, r);
  const double minus = -1.0;
  const HostVector<double>* const load = &r;
  combine<double>({&minus, 1}, {&load, 1}, r);
  RobinFaces<double>(form).add(u, FaceRows::all, r);
  clear_constrained_rows(form, r);
}

}  // namespace

void assemble_load(const BilinearForm& form, const ScalarField& source,
                   const std::vector<FluxTerm>& fluxes, const DirichletValues& g,
                   HostVector<double>& b) {
  on_all_ranks(form, [&] { assemble_own_load(form, source, fluxes, g, b); });
  sum_over_ranks(form, b);
}

void assemble_residual(const BilinearForm& form, const ScalarField& source,
                       const std::vector<FluxTerm>& fluxes, const HostVector<double>& u,
                       HostVector<double>& r) {
  on_all_ranks(form, [&] { assemble_own_residual(form, source, fluxes, u, r); });
  sum_over_ranks(form, r);
}

}  // namespace tessera
