// This file lets muParser check expressions, words its errors, and makes programs of what it
// accepts.
#include "cases/expression/expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <numbers>
#include <utility>
#include <vector>

#include "cases/expression/tree.hpp"
#include "mesh/field/program_field.hpp"

namespace tessera {
namespace {

constexpr std::array<const char*, 3> kVariables = {"x", "y", "z"};

bool has_time(Variables variables) {
  return variables == Variables::position_and_time || variables == Variables::position_time_and_u;
}
bool has_u(Variables variables) {
  return variables == Variables::position_and_u || variables == Variables::position_time_and_u;
}

/// A parser with the variables that it reads.
struct Parser {
  Parser(const std::string& text, int dimension, Variables variables) {
    // muParser's own _pi is cut after twelve digits.
    engine.ClearConst();
    engine.DefineConst("pi", std::numbers::pi);
    for (int d = 0; d < dimension; ++d) engine.DefineVar(kVariables[d], &position[d]);
    if (has_time(variables)) engine.DefineVar("t", &time);
    if (has_u(variables)) engine.DefineVar("u", &u);
    engine.SetExpr(text);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  std::array<double, 3> position{};
  double time = 0.0;
  double u = 0.0;
  mu::Parser engine;
};

std::string variable_names(int dimension, Variables variables) {
  return std::string(dimension == 2 ? "x, y" : "x, y, z") + (has_time(variables) ? ", t" : "") +
         (has_u(variables) ? ", u" : "");
}

// Edit distance of at most 2 between short names, by Levenshtein's recurrence.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_function(const mu::Parser& engine, const std::string& name) {
  std::string best;
  std::size_t least = 3;
  for (const auto& [known, callback] : engine.GetFunDef()) {
    if (const std::size_t d = distance(name, known); d < least && 2 * d < name.size()) {
      least = d;
      best = known;
    }
  }
  return best;
}

// What the token begins with, if it is a number that no double can hold, as it takes it for a name.
std::string too_large_number(const std::string& token) {
  // strtod() would take names such as inf.
  if (token.empty() || (token[0] != '.' && !(token[0] >= '0' && token[0] <= '9'))) return "";
  char* end = nullptr;
  if (!std::isinf(std::strtod(token.c_str(), &end))) return "";
  return token.substr(0, static_cast<std::size_t>(end - token.c_str()));
}

// "abs acos ... tanh".
std::string function_names(const mu::Parser& engine) {
  std::string names;
  for (const auto& [name, function] : engine.GetFunDef()) {
    names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// Of two stars, as other languages write powers.
bool is_second_star(const std::string& token, const mu::ParserError& error) {
  const auto at = static_cast<std::size_t>(std::max(error.GetPos(), 0));
  const std::string& text = error.GetExpr();
  return token == "*" && at > 0 && at <= text.size() && text[at - 1] == '*';
}

std::string explain(const mu::ParserError& error, const mu::Parser& engine, int dimension,
                    Variables variables) {
  const std::string where = error.GetPos() >= 0 && error.GetPos() < 1000000
                                ? fmt::format(" at character {}", error.GetPos() + 1)
                                : std::string();
  // muParser ends every text with a blank of its own.
  std::string token = error.GetToken();
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  switch (error.GetCode()) {
    case mu::ecUNASSIGNABLE_TOKEN: {
      if (token == "z") {
        return fmt::format("unknown name \"z\"{}; in 2D the variables are {}", where,
                           variable_names(dimension, variables));
      }
      if (token == "t") {
        return fmt::format(
            "unknown name \"t\"{}; t is the time, on which the data of the problem and its "
            "boundary, and nothing else, may depend in a case with the table [time]",
            where);
      }
      if (token == "u") {
        return fmt::format(
            "unknown name \"u\"{}; u is the solution, on which problem.coefficient and "
            "problem.source, and nothing else, may depend in a case with the table [nonlinear]",
            where);
      }
      if (const std::string number = too_large_number(token); !number.empty()) {
        return fmt::format("the number {}{} is too large; the largest is {:.2g}", number, where,
                           std::numeric_limits<double>::max());
      }
      if (engine.GetFunDef().contains(token)) {
        return fmt::format("{}{} needs its arguments in parentheses", token, where);
      }
      const std::string nearest = nearest_function(engine, token);
      return fmt::format("unknown name \"{}\"{}; {}", token, where,
                         nearest.empty() ? fmt::format("known are {}, pi and the functions {}",
                                                       variable_names(dimension, variables),
                                                       function_names(engine))
                                         : fmt::format("did you mean {}?", nearest));
    }
    case mu::ecEMPTY_EXPRESSION:
      return "the expression is empty";
    case mu::ecUNEXPECTED_EOF:
      return "the expression ends too early";
    case mu::ecMISSING_PARENS:
      return "a parenthesis is missing";
    case mu::ecTOO_MANY_PARAMS:
      return fmt::format("too many arguments for {}{}", token, where);
    case mu::ecTOO_FEW_PARAMS:
      return fmt::format("too few arguments for {}{}", token, where);
    case mu::ecMISSING_ELSE_CLAUSE:
      return "? needs a : (condition ? value : other value)";
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_FUN:
    case mu::ecUNEXPECTED_OPERATOR:
    case mu::ecUNEXPECTED_PARENS:
    case mu::ecUNEXPECTED_ARG_SEP:
      if (is_second_star(token, error)) {
        return fmt::format("unexpected \"{}\"{}; powers are written ^", token, where);
      }
      return fmt::format("unexpected \"{}\"{}; is an operator such as * missing?", token, where);
    case mu::ecINTERNAL_ERROR:
      return "an operator lacks an operand";
    default:
      return error.GetMsg();
  }
}

/// Finds every fault of the text.
void check(Parser& parser, const std::string& text, int dimension, Variables variables) {
  // muParser would take it for the end.
  if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
    throw ExpressionError(fmt::format("the character {} is a zero byte", zero + 1));
  }
  // An assignment would change a variable between points.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : ' '; };
    const bool comparison =
        at(i + 1) == '=' || (i > 0 && std::string("=<>!").find(at(i - 1)) != std::string::npos);
    if (text[i] == '=' && !comparison) {
      throw ExpressionError(fmt::format("= at character {} is not allowed; == compares", i + 1));
    }
  }
  try {
    int values = 0;
    parser.engine.Eval(values);
    if (values != 1) throw ExpressionError(fmt::format("one value is needed, not {}", values));
  } catch (const mu::ParserError& error) {
    throw ExpressionError(explain(error, parser.engine, dimension, variables));
  }
}

ScalarField field_of(const ExpressionTree& tree, ExpressionTree::NodeId node) {
  const std::optional<double> constant = tree.constant(node);
  return constant ? constant_field(*constant) : program_field(tree.program(node));
}

std::shared_ptr<const Expression> read(const std::string& text, int dimension,
                                       Variables variables) {
  try {
    Parser parser(text, dimension, variables);
    check(parser, text, dimension, variables);
  } catch (const mu::ParserError& error) {
    throw ExpressionError(error.GetMsg());
  }
  ExpressionTree tree(text);
  ScalarField field;
  if (!tree.depends_on_time()) field = field_of(tree);
  return std::make_shared<const Expression>(Expression{std::move(tree), std::move(field)});
}

/// The most recent expressions. The code that decides on sizes and strategies asks for the fields
/// of a case a hundred times, and muParser takes a tenth of a second for some thousand terms.
class RecentExpressions {
 public:
  std::shared_ptr<const Expression> expression(const std::string& text, int dimension,
                                               Variables variables) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.dimension == dimension && entry.variables == variables && entry.text == text;
    });
    if (found != entries_.end()) {
      std::rotate(entries_.begin(), found, found + 1);
    } else {
      auto made = read(text, dimension, variables);
      if (entries_.size() == kMaxEntries) entries_.pop_back();
      entries_.insert(entries_.begin(), {text, dimension, variables, std::move(made)});
    }
    return entries_.front().expression;
  }

 private:
  // This is more than a case has expressions.
  static constexpr std::size_t kMaxEntries = 32;
  struct Entry {
    std::string text;
    int dimension;
    Variables variables;
    std::shared_ptr<const Expression> expression;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace

std::shared_ptr<const Expression> read_expression(const std::string& text, int dimension,
                                                  Variables variables) {
  static RecentExpressions recent;
  return recent.expression(text, dimension, variables);
}

ScalarField field_of(ExpressionTree tree) {
  ScalarField field = field_of(tree, tree.root());
  if (field.constant) return field;
  if (const auto factors = tree.factors()) {
    const auto& [x, y, z] = *factors;
    field.factors = std::make_shared<const std::array<ScalarField, 3>>(
        std::array<ScalarField, 3>{field_of(tree, x), field_of(tree, y), field_of(tree, z)});
  }
  return field;
}

ScalarField parse_expression(const std::string& text, int dimension) {
  return read_expression(text, dimension, Variables::position)->field;
}

}  // namespace tessera
