// This file makes fields that check the values of expressions.
#include "src/case/fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cases/expression.hpp"
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

}  // namespace

BadExpressionValue::BadExpressionValue(std::string key, Requirement requirement, double value,
                                       const Point& where)
    : BadFieldValue(WholeText{fmt::format(
                        "is {:.6g} at ({:.6g}, {:.6g}, {:.6g}); {}", value, where[0], where[1],
                        where[2], kRequirementTexts.at(static_cast<std::size_t>(requirement)))},
                    where, value),
      key_(std::move(key)) {}

ScalarField make_case_field(const std::string& key, const std::string& text, int dimension,
                            Requirement requirement) {
  ScalarField field = parse_expression(text, dimension);
  if (field.constant) {
    if (!meets(requirement, *field.constant)) {
      throw BadExpressionValue(key, requirement, *field.constant, {0.0, 0.0, 0.0});
    }
    return field;
  }
  // The factors have no checks of their own: whether they are allowed shows in the product.
  auto factors = field.factors;
  auto program = field.program;
  return {[field = std::move(field), key, requirement](const PointBlock& points, double* values) {
            // Of all long work of a run this is the most: where it can stop, most others can.
            stop_if_requested();
            field.evaluate(points, values);
            for (std::size_t i = 0; i < points.n; ++i) {
              if (meets(requirement, values[i])) continue;
              throw BadExpressionValue(key, requirement, values[i],
                                       {points.x[i], points.y[i], points.z[i]});
            }
          },
          std::nullopt, std::move(factors), std::move(program)};
}

}  // namespace tessera
