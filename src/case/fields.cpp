// This file makes fields that check the values of expressions.
#include "src/case/fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cases/expression/expression.hpp"
#include "solvers/interruption.hpp"
#include "src/parameters/names.hpp"

namespace tessera {
namespace {

constexpr auto kRequirementTexts =
    names_in_order<Requirement>({{Requirement::finite, "it must be finite"},
                                 {Requirement::positive, "it must be positive and finite"},
                                 {Requirement::non_negative, "it must be at least 0 and finite"}});

bool meets(Requirement requirement, double value) {
  if (!std::isfinite(value)) return false;
  if (requirement == Requirement::positive) return value > 0.0;
  return requirement == Requirement::finite || value >= 0.0;
}

// A NaN without its sign, which says nothing.
std::string value_text(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value);
}

std::string place_text(const Point& where, int dimension) {
  return dimension == 2 ? fmt::format(" at ({:.6g}, {:.6g})", where[0], where[1])
                        : fmt::format(" at ({:.6g}, {:.6g}, {:.6g})", where[0], where[1], where[2]);
}

/// What values must be, and whose they are.
struct Check {
  std::string key;
  Requirement requirement;
  int dimension;
  /// Of an expression that depends on it.
  std::optional<double> time = std::nullopt;
  /// What stands before and after a value.
  std::string_view verb = "is";
  std::string_view addition{};

  /// The value of a constant, which is the same everywhere.
  void operator()(double value) const {
    if (!meets(requirement, value)) fail(value, {0.0, 0.0, 0.0}, "");
  }

  /// @param u where the value depends on it
  void operator()(double value, const Point& where, const std::optional<double>& u) const {
    if (meets(requirement, value)) return;
    fail(value, where, place_text(where, dimension), u);
  }

  [[noreturn]] void fail(double value, const Point& where, const std::string& place,
                         const std::optional<double>& u = std::nullopt) const {
    throw BadExpressionValue(
        key,
        fmt::format("{} {}{}{}{}{}; {}", verb, value_text(value), addition, place,
                    time ? fmt::format(" at t = {:.6g}", *time) : "",
                    u ? fmt::format(" with u = {:.6g}", *u) : "",
                    kRequirementTexts.at(static_cast<std::size_t>(requirement))),
        value, where);
  }
};

// The field, whose values are checked where they are computed.
ScalarField checked(ScalarField field, Check check) {
  if (field.constant) {
    check(*field.constant);
    return field;
  }
  // The factors have no checks of their own: whether they are allowed shows in the product.
  ScalarField result = field;
  result.evaluate = [field = std::move(field), check = std::move(check)](const PointBlock& points,
                                                                         double* values) {
    // Of all long work of a run this is the most: where it can stop, most others can.
    stop_if_requested();
    field.evaluate(points, values);
    for (std::size_t i = 0; i < points.n; ++i) {
      check(values[i], {points.x[i], points.y[i], points.z[i]},
            field.depends_on_u ? std::optional(points.u[i]) : std::nullopt);
    }
  };
  return result;
}

}  // namespace

ScalarField make_case_field(const std::string& key, const std::string& text, int dimension,
                            Requirement requirement) {
  return checked(parse_expression(text, dimension), {key, requirement, dimension});
}

CaseTimeField::CaseTimeField(std::string key, const std::string& text, int dimension,
                             Requirement requirement, Variables variables)
    : key_(std::move(key)),
      dimension_(dimension),
      requirement_(requirement),
      field_(text, dimension, variables) {}

ScalarField CaseTimeField::at(double t) const {
  const auto time = depends_on_time() ? std::optional(t) : std::nullopt;
  return checked(field_.at(t), {key_, requirement_, dimension_, time});
}

ScalarField CaseTimeField::rate_at(double t) const {
  return checked(field_.rate_at(t),
                 {key_, Requirement::finite, dimension_, t, "has the derivative", " in t"});
}

}  // namespace tessera
