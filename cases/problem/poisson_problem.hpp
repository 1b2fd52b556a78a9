// A PoissonProblem is a boundary value problem, from which form and linear system are made.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cases/problem/balance.hpp"
#include "mesh/face.hpp"
#include "mesh/scalar_field.hpp"
#include "operators/form/bilinear_form.hpp"
#include "operators/load/load_vector.hpp"
#include "solvers/memory/vector.hpp"

namespace tessera {

enum class BoundaryType { dirichlet, neumann, robin };

/// u = value, or k du/dn = value, or k du/dn + alpha u = value, on one face.
struct BoundaryCondition {
  BoundaryType type = BoundaryType::dirichlet;
  ScalarField value = constant_field(0.0);
  /// Robin only.
  std::optional<ScalarField> alpha = {};
};

/// -div(coefficient grad u) + reaction u = source on the mapped box, with one condition per face;
/// in time capacity du/dt is added on the left.
struct PoissonProblem {
  int dimension = 3;
  ScalarField coefficient = constant_field(1.0);
  ScalarField reaction = constant_field(0.0);
  ScalarField capacity = constant_field(1.0);
  ScalarField source = constant_field(0.0);
  /// The conditions by Face; the last two mean nothing in 2D.
  std::array<BoundaryCondition, 6> boundary = {};
  /// The numbers by which the source, and integrals of it and of fluxes, are multiplied where a
  /// user reads them, because the fields may not be in the units of the case.
  double source_unit = 1.0;
  double load_unit = 1.0;
  /// The part of the domain that this rank computes; null: the whole. The conditions are those of
  /// the whole.
  std::shared_ptr<const RankPart> part = nullptr;
};

/// The bilinear form of the problem, or of the rank's part; the discretization, that of the part,
/// must outlive it. Robin terms that vanish at all points, and a reaction without Dirichlet faces
/// that does, are left out. So is_pure_neumann(), whether u is determined only up to a constant, is
/// decided by values once and is the same on all levels of a hierarchy.
BilinearForm stiffness_form(const PoissonProblem& problem, const Discretization& discretization);

/// The matrix of (capacity u, v): the form with the capacity as reaction, and 0 as coefficient.
BilinearForm mass_form(const PoissonProblem& problem, const Discretization& discretization);

/// The form with factor (capacity u, v) added, as an implicit step in time solves it.
BilinearForm with_mass(BilinearForm form, const ScalarField& capacity, double factor);

/// The faces with Dirichlet conditions.
FaceSet dirichlet_faces(const PoissonProblem& problem);

/// The values on all faces, as DirichletValues are made of.
std::vector<ScalarField> dirichlet_fields(const PoissonProblem& problem);

/// The values on the faces that are not Dirichlet faces.
std::vector<FluxTerm> flux_terms(const PoissonProblem& problem);

/// Where a solution is wanted: anywhere, if only its numbers are asked for.
enum class SolutionPlace { host, anywhere };

/// A x = b as an iterative solver takes it.
struct LinearSystem {
  /// Initial values with Dirichlet values set, where the solve starts; with a `start` below the
  /// room for the solution, or empty where it is not wanted on the host.
  HostVector<double> x;
  /// Where b is in GPU memory and initial values are 0: what the solve starts with on Dirichlet
  /// faces, and 0 elsewhere.
  std::optional<DirichletValues> start = std::nullopt;
  /// Empty where b was assembled in GPU memory and is there.
  HostVector<double> b;
  std::shared_ptr<DeviceVector<double>> b_on_gpu = nullptr;
  /// The solution of a system with an empty x.
  std::shared_ptr<DeviceVector<double>> x_on_gpu = nullptr;
  /// ||b|| over the rows that are not constrained: what residuals are relative to.
  double reference_norm = 0.0;
  /// Whether constants are the null space of A: u is determined only up to a constant.
  bool is_singular = false;
  /// If singular: (integral of source + fluxes) / volume, the quadrature's defect of balance, which
  /// was subtracted from the source.
  double balance_defect = 0.0;
  /// What was assumed or subtracted, one sentence each.
  std::vector<std::string> notes = {};
};

/// Assembles the load, balances it where the problem is pure Neumann, and sets Dirichlet values.
/// @param assembles where b is assembled and stays. The host helps out where the problem is pure
///        Neumann, squares of b would be lost, and as assemble_device_load() says.
/// @throws IncompatibleData as balance_load(), BadFieldValue
LinearSystem make_linear_system(const PoissonProblem& problem, const Discretization& discretization,
                                const ScalarField& initial, Processor assembles = Processor::cpu,
                                SolutionPlace wanted = SolutionPlace::host);
/// The same for a form of the problem that exists already, such as that of a coarse level.
LinearSystem make_linear_system(const PoissonProblem& problem, const BilinearForm& form,
                                const ScalarField& initial, Imbalance imbalance,
                                Processor assembles = Processor::cpu,
                                SolutionPlace wanted = SolutionPlace::host);

/// The field minus a number.
ScalarField shifted(const ScalarField& field, double subtracted);

/// factor field, and a + factor b.
ScalarField scaled(const ScalarField& field, double factor);
ScalarField sum(const ScalarField& a, const ScalarField& b, double factor);

}  // namespace tessera
