// This file makes random admissible cases.
#include "tests/properties/random_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>
#include <sstream>
#include <vector>

#include "src/case/strategy_names.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera::testing {
namespace {

template <class T>
T one_of(std::initializer_list<T> choices) {
  return *rc::gen::elementOf(std::vector<T>(choices));
}
std::string text_of(std::initializer_list<std::string> choices) { return one_of(choices); }

int between(int least, int greatest) { return *rc::gen::inRange(least, greatest + 1); }
// True in one of n cases.
bool once_in(int n) { return between(0, n - 1) == n - 1; }

double power_of_ten(int exponent) { return std::stod(fmt::format("1e{}", exponent)); }

std::string replaced(std::string text, char what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, 1, by);
  }
  return text;
}

/// Draws one case, part after part.
class Draw {
 public:
  explicit Draw(const CaseRange& range) : range_(range) {}

  CaseParameters draw() {
    draw_units();
    draw_space();
    draw_mesh();
    draw_problem();
    draw_boundary();
    draw_run();
    draw_operator();
    draw_solver();
    parameters_.title = "a random case";
    parameters_.output.vtk = false;
    parameters_.output.picture = false;
    return parameters_;
  }

 private:
  int dimension() const { return parameters_.mesh.dimension; }

  void draw_units() {
    parameters_.mesh.dimension = between(2, 3);
    parameters_.operation.precision =
        range_.precision ? *range_.precision
                         : one_of({Precision::double_precision, Precision::double_precision,
                                   Precision::single_precision});
    const bool single = parameters_.operation.precision == Precision::single_precision;
    const int most = single ? std::min(range_.decades, kSafeSingleDecades) : range_.decades;
    if (once_in(2)) {
      length_ = power_of_ten(between(-most, most));
      coefficient_ = power_of_ten(between(-most, most));
    }
  }

  void draw_space() {
    SpaceParameters& space = parameters_.space;
    space.degree = between(1, 6);
    space.nodes = one_of({NodeFamily::gauss_lobatto, NodeFamily::equidistant});
    space.quadrature = one_of({QuadratureRule::gauss, QuadratureRule::gauss_lobatto});
    space.points = once_in(2) ? 0 : space.degree + 1 + between(0, 2);
  }

  bool is_too_large() const {
    const double points =
        parameters_.space.points > 0 ? parameters_.space.points : parameters_.space.degree + 1;
    double work = 1.0;
    double dofs = 1.0;
    for (const Index cells : parameters_.mesh.cells) {
      work *= static_cast<double>(cells) * points * (parameters_.space.degree + 1);
      dofs *= static_cast<double>(cells) * parameters_.space.degree + 1.0;
    }
    return work > range_.max_work || dofs > static_cast<double>(range_.max_dofs);
  }

  void draw_mesh() {
    MeshParameters& mesh = parameters_.mesh;
    for (int d = 0; d < dimension(); ++d) mesh.cells.push_back(between(1, 9));
    while (is_too_large()) {
      Index& most = *std::max_element(mesh.cells.begin(), mesh.cells.end());
      if (most > 1) {
        --most;
        continue;
      }
      --parameters_.space.degree;
      if (parameters_.space.points > 0) --parameters_.space.points;
    }
    const double offset = once_in(3) ? kSafeOffset * one_of({-1.0, 0.3, 1.0}) : 0.0;
    for (int d = 0; d < dimension(); ++d) {
      const double lower = length_ * offset * (d + 1) / dimension();
      mesh.lower.push_back(lower);
      mesh.upper.push_back(lower + length_ * one_of({1.0, 0.5, 0.7}));
      mesh.spacing.push_back(draw_spacing(d));
    }
    if (once_in(3)) draw_map();
  }

  AxisSpacing draw_spacing(int d) {
    AxisSpacing spacing;
    const int kind = between(0, 3);
    if (kind == 2) spacing.ratio = one_of({1.2, 0.8, 2.0, 0.5});
    if (kind == 3) {
      std::vector<double> ends = {0.0};
      for (Index c = 0; c < parameters_.mesh.cells[d]; ++c) {
        ends.push_back(ends.back() + between(1, 4));
      }
      const double lower = parameters_.mesh.lower[d];
      const double upper = parameters_.mesh.upper[d];
      for (const double end : ends) {
        spacing.lines.push_back(lower + (upper - lower) * (end / ends.back()));
      }
      spacing.lines.back() = upper;
    }
    return spacing;
  }

  // x, y and z in units of length, written X, Y and Z; with derivatives that no cell inverts.
  void draw_map() {
    const bool flat = dimension() == 2;
    static const std::vector<std::vector<std::string>> k2d = {{"X + 0.05*sin(2*Y)", "Y - 0.04*X*Y"},
                                                              {"0.8*X - 0.6*Y", "0.6*X + 0.8*Y"},
                                                              {"X", "Y + 0.08*cos(X)"}};
    static const std::vector<std::vector<std::string>> k3d = {
        {"X + 0.05*sin(2*Y + Z)", "Y - 0.04*Z*X", "Z + 0.05*sin(X + 2*Y)"},
        {"0.8*X - 0.6*Y", "0.6*X + 0.8*Y", "Z"},
        {"X", "Y", "Z + 0.1*sin(X)*cos(Y)"}};
    for (const std::string& component : *rc::gen::elementOf(flat ? k2d : k3d)) {
      parameters_.mesh.map.push_back(fmt::format("{}*({})", length_, in_lengths(component)));
    }
  }

  std::string in_lengths(std::string text) const {
    const auto variable = [&](const char* name) {
      return length_ == 1.0 ? std::string(name) : fmt::format("({}/{})", name, length_);
    };
    text = replaced(std::move(text), 'X', variable("x"));
    text = replaced(std::move(text), 'Y', variable("y"));
    return replaced(std::move(text), 'Z', dimension() == 3 ? variable("z") : "0.5");
  }

  // scale * text.
  std::string scaled(double scale, const std::string& text) const {
    if (text == "0") return text;
    return fmt::format("{}*{}", scale, in_lengths(text));
  }

  void draw_problem() {
    ProblemParameters& problem = parameters_.problem;
    const int kind = between(0, 4);
    const std::string shape =
        kind == 0   ? "1"
        : kind == 1 ? text_of({"(1 + X^2)", "exp(X)*(1.2 + sin(3*Y))/(2 + cos(Z))", "(2 - cos(Z))"})
        : kind == 2
            ? text_of({"(2 + sin(3*X + Y)*cos(2*Z))", "exp(0.2*X*Y)", "(1 + X^2 + Y^2 + Z^2)"})
        : kind == 3
            ? text_of({"(X < 0.3719 ? 1 : 40)", "(Y < 0.4127 ? 30 : 1)*(1 + X^2)"})
            : text_of({"((X < 0.3719) == (Y < 0.4127) ? 1 : 30)", "(X + Y < 0.7319 ? 1 : 20)"});
    problem.coefficient =
        shape == "1" ? fmt::format("{}", coefficient_) : scaled(coefficient_, shape);
    problem.source =
        scaled(source_scale(), text_of({"1", "0", "(1 + sin(3*X)*Y)", "exp(X)*cos(2*Y + Z)"}));
    if (once_in(4)) {
      problem.reaction =
          scaled(source_scale(), text_of({"1", "40", "(1 + X^2)*Y^2", "(X < 0.3719 ? 0 : 5)"}));
    }
    if (once_in(4)) problem.exact = in_lengths("sin(X)*Y");
    parameters_.solver.initial = once_in(4) ? in_lengths("0.3 + X*Y") : "0";
  }

  double source_scale() const { return coefficient_ / length_ / length_; }
  double flux_scale() const { return coefficient_ / length_; }

  void draw_boundary() {
    const int faces = 2 * dimension();
    const bool all_neumann = once_in(6);
    bool fixed = false;
    for (int face = 0; face < faces; ++face) {
      BoundaryParameters& condition = parameters_.boundary[face];
      condition.type =
          all_neumann
              ? BoundaryType::neumann
              : one_of({BoundaryType::dirichlet, BoundaryType::neumann, BoundaryType::robin});
      if (condition.type == BoundaryType::dirichlet) {
        condition.value = in_lengths(text_of({"0", "1", "(sin(2*X) + Y)"}));
      } else {
        condition.value = scaled(flux_scale(), text_of({"0", "1", "cos(3*Y)"}));
      }
      if (condition.type == BoundaryType::robin) {
        condition.alpha = scaled(flux_scale(), text_of({"1", "(0.5 + X^2)", "0"}));
      }
      fixed = fixed || condition.type == BoundaryType::dirichlet ||
              (condition.type == BoundaryType::robin && *condition.alpha != "0");
    }
    if (!fixed) balance();
  }

  // Data with which a pure Neumann problem has a solution, exactly so with any quadrature: a
  // constant source that flows out of one face, where the box is not bent; else none.
  void balance() {
    for (BoundaryParameters& condition : parameters_.boundary) condition.value = "0";
    parameters_.problem.source = "0";
    parameters_.problem.exact.reset();
    if (!parameters_.mesh.map.empty()) return;
    const int face = between(0, 2 * dimension() - 1);
    const double width = parameters_.mesh.upper[face / 2] - parameters_.mesh.lower[face / 2];
    parameters_.problem.source = fmt::format("{}", source_scale());
    parameters_.boundary[face].value = fmt::format("{}", -source_scale() * width);
  }

  void draw_run() {
    RunParameters& run = parameters_.run;
    run.device = one_of({RunDevice::automatic, RunDevice::cpu});
    run.threads = between(1, 2);
    run.deterministic = once_in(4);
  }

  void draw_operator() {
    OperatorParameters& operation = parameters_.operation;
    operation.kernel = text_of({"auto", "tensor", "local", "csr", "auto"});
    if (suits_kronecker_ && once_in(4)) operation.kernel = "kronecker";
    if (parameters_.space.degree == 1 && once_in(6)) operation.kernel = "stencil";
    operation.scatter = kernel_takes_scatter(strategy_names().kernels, operation.kernel)
                            ? text_of({"coloring", "serial", "private", "auto",
                                       parameters_.run.deterministic ? "coloring" : "atomic"})
                            : std::string(kNoScatter);
    if (operation.kernel == "tensor" && once_in(8)) {
      operation.factors =
          one_of({FactorsChoice::stored, FactorsChoice::compressed, FactorsChoice::on_the_fly});
    }
  }

  void draw_solver() {
    SolverParameters& solver = parameters_.solver;
    const bool single = parameters_.operation.precision == Precision::single_precision;
    solver.relative_tolerance = single ? one_of({1e-4, 1e-5}) : one_of({1e-6, 1e-8, 1e-9});
    solver.max_iterations = 20000;
    solver.preconditioner =
        one_of({"none", "jacobi", "chebyshev", "multigrid", "fast-diagonalization", "block-jacobi",
                "auto", parameters_.run.deterministic ? "auto" : "block-asynchronous-jacobi"});
    solver.method = one_of({SolverMethod::cg, SolverMethod::single_reduction_cg,
                            SolverMethod::pipelined_cg, SolverMethod::flexible_cg});
    if (solver.preconditioner != "none" && once_in(10)) {
      solver.method = SolverMethod::richardson;
    }
    solver.residual_replacement = one_of({0, 0, 7, 50});
    solver.chebyshev.degree = between(1, 8);
    solver.chebyshev.range = one_of({4.0, 30.0, 100.0});
    draw_multigrid();
    solver.block_jacobi.sweeps = between(1, 3);
    solver.block_jacobi.local_sweeps = between(1, 5);
    const bool asynchronous =
        solver.preconditioner == "block-asynchronous-jacobi" ||
        (solver.preconditioner == "multigrid" &&
         solver.multigrid.smoother == SmootherKind::block_asynchronous_jacobi);
    if (asynchronous && solver.method != SolverMethod::richardson) {
      solver.method = SolverMethod::flexible_cg;
    }
  }

  void draw_multigrid() {
    MultigridParameters& multigrid = parameters_.solver.multigrid;
    multigrid.levels = one_of({0, 0, 1, 2, 3});
    multigrid.coarsening = one_of({CoarseningChoice::automatic, CoarseningChoice::degree_first,
                                   CoarseningChoice::cells_first});
    multigrid.smoother =
        one_of({SmootherKind::chebyshev, SmootherKind::chebyshev, SmootherKind::block_jacobi,
                parameters_.run.deterministic ? SmootherKind::block_jacobi
                                              : SmootherKind::block_asynchronous_jacobi});
    multigrid.smoother_degree = between(1, 5);
    multigrid.start_cycles = between(1, 3);
    multigrid.precision = one_of({Precision::single_precision, Precision::double_precision});
    const bool units_are_safe = std::abs(std::log10(length_)) <= kSafeMixedDecades &&
                                std::abs(std::log10(coefficient_)) <= kSafeMixedDecades;
    if (!units_are_safe || parameters_.solver.method == SolverMethod::pipelined_cg) {
      multigrid.precision = Precision::double_precision;
    }
    const bool uses_it = parameters_.solver.preconditioner == "multigrid";
    if (uses_it && once_in(4)) parameters_.solver.initial = kFullMultigrid;
  }

  CaseRange range_;
  CaseParameters parameters_;
  bool suits_kronecker_ = false;
  double length_ = 1.0;
  double coefficient_ = 1.0;
};

}  // namespace

void showValue(const RandomCase& random_case, std::ostream& out) {
  out << "the case file\n" << random_case.text;
}

rc::Gen<RandomCase> random_cases(const CaseRange& range) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([range] {
                           static const Registry<CaseParameters> registry = make_case_registry();
                           return RandomCase{registry.to_toml(Draw(range).draw())};
                         }));
}

std::optional<LoadedCase> Refusals::load(const RandomCase& random_case) {
  static const Registry<CaseParameters> registry = make_case_registry();
  ++cases_;
  try {
    return registry.parse(random_case.text, "case.toml");
  } catch (const InputError& error) {
    ++refused_;
    last_ = error.what();
    return std::nullopt;
  }
}

void Refusals::expect_at_most(double share) const {
  EXPECT_LE(refused_, share * cases_)
      << refused_ << " of " << cases_ << " cases were refused, the last for\n"
      << last_;
}

// With sanitizers a case takes many times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr int kShare = 3;
#else
constexpr int kShare = 1;
#endif

void expect_for_all(const rc::Gen<RandomCase>& generator, int cases,
                    const std::function<void(const RandomCase&)>& property) {
  rc::detail::TestParams params;
  if (std::getenv("RC_PARAMS") != nullptr) {
    params = rc::detail::configuration().testParams;
  } else {
    params.seed = 20260101;
    params.maxSuccess = (cases + kShare - 1) / kShare;
  }
  rc::detail::TestMetadata metadata;
  metadata.id = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const auto result = rc::detail::checkTestable([&] { property(*generator); }, metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str();
}

}  // namespace tessera::testing
