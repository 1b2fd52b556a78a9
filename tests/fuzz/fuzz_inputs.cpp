// This file reads a text as a user's input and checks what becomes of it.
#include "tests/fuzz/fuzz_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "cases/expression/expression.hpp"
#include "cases/problem/time_field.hpp"
#include "mesh/field/program_field.hpp"
#include "src/case/choices.hpp"
#include "src/case/setup.hpp"
#include "src/case/shape.hpp"
#include "src/case/strategy.hpp"
#include "src/parameters/messages/diagnostics.hpp"

namespace tessera::testing {
namespace {

// Above it only the keys are checked.
constexpr double kLargestNodeCount = 5000.0;
// Grid lines along an axis: what the checks make of { geometric = R }.
constexpr Index kLargestAxis = 100'000;

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

void require_clean(const std::string& message) {
  if (message.empty()) throw BadAnswer("an empty message");
  if (std::any_of(message.begin(), message.end(), is_control)) {
    throw BadAnswer("a message with control characters: " + message);
  }
}

const Registry<CaseParameters>& registry() {
  static const Registry<CaseParameters> made = make_case_registry();
  return made;
}

void require_clean(const InputError& error) {
  if (error.diagnostics().empty()) throw BadAnswer("an error without diagnostics");
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    require_clean(format_diagnostic(diagnostic));
  }
}

double node_count(const CaseParameters& parameters) {
  double nodes = 1.0;
  for (const Index cells : parameters.mesh.cells) {
    nodes *= static_cast<double>(cells) * parameters.space.degree + 1.0;
  }
  return nodes;
}

void evaluate_at_nodes(const Discretization& discretization, const ScalarField& field) {
  const auto n = static_cast<std::size_t>(discretization.lattice.size());
  std::array<std::vector<double>, 3> positions;
  for (auto& coordinate : positions) coordinate.resize(n);
  discretization.mapping.node_positions(0, discretization.lattice.size(), positions[0].data(),
                                        positions[1].data(), positions[2].data());
  const std::vector<double> u(n, 0.375);
  std::vector<double> values(n);
  field.evaluate({n, positions[0].data(), positions[1].data(), positions[2].data(), u.data()},
                 values.data());
}

void evaluate_everything(const CaseParameters& parameters) {
  const Discretization discretization = make_discretization(parameters);
  const PoissonProblem problem = make_problem(parameters);
  evaluate_at_nodes(discretization, problem.coefficient);
  evaluate_at_nodes(discretization, problem.capacity);
  evaluate_at_nodes(discretization, problem.source);
  for (const BoundaryCondition& condition : problem.boundary) {
    evaluate_at_nodes(discretization, condition.value);
    if (condition.alpha) evaluate_at_nodes(discretization, *condition.alpha);
  }
  evaluate_at_nodes(discretization, make_initial(parameters));
  if (const auto exact = make_exact(parameters)) evaluate_at_nodes(discretization, *exact);
}

void try_loaded(LoadedCase loaded) {
  CaseParameters& parameters = loaded.parameters;
  if (*std::max_element(parameters.mesh.cells.begin(), parameters.mesh.cells.end()) <=
      kLargestAxis) {
    resolve_choices(parameters);
  }
  const std::string resolved = registry().to_toml(parameters);
  if (registry().to_toml(registry().parse(resolved, "resolved").parameters) != resolved) {
    throw BadAnswer("the resolved file is read back as another case:\n" + resolved);
  }
  if (node_count(parameters) > kLargestNodeCount) return;
  with_case_errors(loaded, [&] { evaluate_everything(parameters); });
}

constexpr std::array<std::array<double, 3>, 5> kPoints = {
    {{0.0, 0.0, 0.0}, {0.25, 0.5, 0.75}, {-1.5, 2.0, 1e-3}, {1e6, -1e-9, 3.0}, {0.3, 0.7, 0.2}}};

double value_at(const ScalarField& field, const std::array<double, 3>& point) {
  constexpr double kU = 0.375;
  double value = 0.0;
  field.evaluate({1, point.data(), &point[1], &point[2], &kU}, &value);
  return value;
}

// Products in another order, or with a factor that leaves the range of doubles, differ.
bool agree(double product, double value) {
  if (!std::isfinite(product) || !std::isfinite(value)) return true;
  constexpr double kMinNormal = 1e-290;
  if (std::abs(product) < kMinNormal || std::abs(value) < kMinNormal) return true;
  return std::abs(product - value) <= 1e-9 * std::abs(value);
}

void require_factors(const ScalarField& field, const std::string& text) {
  for (const std::array<double, 3>& point : kPoints) {
    double product = 1.0;
    bool in_range = true;
    for (int d = 0; d < 3; ++d) {
      // A factor depends on its own coordinate only.
      std::array<double, 3> only{};
      only[d] = point[d];
      const double factor = value_at((*field.factors)[d], only);
      in_range = in_range && std::abs(factor) > 1e-200 && std::abs(factor) < 1e200;
      product *= factor;
    }
    if (in_range && !agree(product, value_at(field, point))) {
      throw BadAnswer(
          fmt::format("factors of \"{}\" make {} of {}", text, product, value_at(field, point)));
    }
  }
}

void try_at_times(const TimeField& field, const std::string& text) {
  for (const double t : {0.0, 0.25, 3.0}) {
    const ScalarField at_t = field.at(t);
    const ScalarField rate = field.rate_at(t);
    const ScalarField in_u = derivative_in_u(at_t);
    for (const std::array<double, 3>& point : kPoints) {
      value_at(at_t, point);
      value_at(rate, point);
      value_at(in_u, point);
    }
    if (at_t.factors != nullptr) require_factors(at_t, text);
  }
}

}  // namespace

Verdict try_case_file(std::string_view text) {
  try {
    try_loaded(registry().parse(text, "case.toml"));
    return Verdict::accepted;
  } catch (const InputError& error) {
    require_clean(error);
    return Verdict::refused;
  }
}

Verdict try_expression(const std::string& text) {
  Verdict verdict = Verdict::accepted;
  for (const int dimension : {2, 3}) {
    try {
      // In which t and u are variables, and then in which they are not.
      try_at_times(TimeField(text, dimension, Variables::position_time_and_u), text);
      const ScalarField field = parse_expression(text, dimension);
      for (const std::array<double, 3>& point : kPoints) value_at(field, point);
      if (field.factors != nullptr) require_factors(field, text);
    } catch (const ExpressionError& error) {
      // muParser has accepted it then.
      if (std::string_view(error.what()) == "the expression is not understood") std::abort();
      // As the program shows it.
      require_clean(format_diagnostic({.file = "case.toml", .message = error.what()}));
      verdict = Verdict::refused;
    }
  }
  return verdict;
}

}  // namespace tessera::testing
