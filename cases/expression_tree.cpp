// This file turns expressions into trees and trees into programs.
#include "cases/expression_tree.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "cases/expression.hpp"
#include "mesh/field/evaluate_program.hpp"

namespace tessera {
namespace {

constexpr int kMaxIntegerPower = 8;

/// The operation with its arguments the other way round; nothing if there is none.
std::optional<Operation> reversed(Operation operation) {
  switch (operation) {
    case Operation::add:
    case Operation::multiply:
    case Operation::equal:
    case Operation::not_equal:
    case Operation::logical_and:
    case Operation::logical_or:
      return operation;
    case Operation::subtract:
      return Operation::reversed_subtract;
    case Operation::divide:
      return Operation::reversed_divide;
    case Operation::power:
      return Operation::reversed_power;
    case Operation::atan2:
      return Operation::reversed_atan2;
    case Operation::less:
      return Operation::greater;
    case Operation::less_equal:
      return Operation::greater_equal;
    case Operation::greater:
      return Operation::less;
    case Operation::greater_equal:
      return Operation::less_equal;
    default:
      return std::nullopt;
  }
}

struct NamedOperation {
  std::string_view name;
  Operation operation;
};

constexpr NamedOperation kFunctions[] = {
    {"abs", Operation::abs},     {"acos", Operation::acos},   {"acosh", Operation::acosh},
    {"asin", Operation::asin},   {"asinh", Operation::asinh}, {"atan", Operation::atan},
    {"atan2", Operation::atan2}, {"atanh", Operation::atanh}, {"cos", Operation::cos},
    {"cosh", Operation::cosh},   {"exp", Operation::exp},     {"ln", Operation::log},
    {"log", Operation::log},     {"log10", Operation::log10}, {"log2", Operation::log2},
    {"max", Operation::maximum}, {"min", Operation::minimum}, {"rint", Operation::rint},
    {"sign", Operation::sign},   {"sin", Operation::sin},     {"sinh", Operation::sinh},
    {"sqrt", Operation::sqrt},   {"sum", Operation::add},     {"avg", Operation::add},
    {"tan", Operation::tan},     {"tanh", Operation::tanh}};

/// An operator between two operands; muParser binds a sign as tightly as a product.
struct Operator {
  std::string_view text;
  int precedence;
  Operation operation;
};

constexpr int kSignPrecedence = 6;
constexpr int kPowerPrecedence = 7;
constexpr Operator kOperators[] = {
    {"||", 1, Operation::logical_or}, {"&&", 2, Operation::logical_and},
    {"<=", 4, Operation::less_equal}, {">=", 4, Operation::greater_equal},
    {"==", 4, Operation::equal},      {"!=", 4, Operation::not_equal},
    {"<", 4, Operation::less},        {">", 4, Operation::greater},
    {"+", 5, Operation::add},         {"-", 5, Operation::subtract},
    {"*", 6, Operation::multiply},    {"/", 6, Operation::divide},
    {"^", 7, Operation::power}};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

/// The shunting-yard algorithm (Dijkstra 1961): operands go to one stack, and operators wait on
/// another one until what follows binds less tightly.
class ExpressionTree::Parser {
 public:
  Parser(ExpressionTree& tree, std::string_view text) : tree_(tree), rest_(text) {}

  NodeId parse() {
    while (skip_blanks(), !rest_.empty()) take_token();
    reduce_to_opening();
    require(pending_.empty() && operands_.size() == 1);
    return operands_.back();
  }

 private:
  enum class Kind { binary, negation, opening, question, colon };
  struct Pending {
    Kind kind;
    int precedence = 0;
    Operation operation = Operation::push;
    /// Of an opening parenthesis: the function before it, and the number of commas so far.
    std::string_view function = {};
    int commas = 0;
  };

  // muParser has found every fault of the text: what is wrong here, it reads otherwise than we do.
  static void require(bool is_understood) {
    if (!is_understood) throw ExpressionError("the expression is not understood");
  }

  void skip_blanks() {
    // muParser takes all of these for blanks.
    while (!rest_.empty() && static_cast<unsigned char>(rest_.front()) <= ' ') {
      rest_.remove_prefix(1);
    }
  }

  std::string_view cut(std::size_t length) {
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return text;
  }

  void take_token() {
    const char c = rest_.front();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      double value = 0.0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      cut(std::max<std::size_t>(1, static_cast<std::size_t>(end - rest_.data())));
      take_operand(tree_.number(value));
    } else if (is_name(c)) {
      std::size_t length = 1;
      while (length < rest_.size() && is_name(rest_[length])) ++length;
      take_name(cut(length));
    } else {
      take_sign();
    }
  }

  void take_operand(NodeId node) {
    operands_.push_back(node);
    after_operand_ = true;
  }

  void take_name(std::string_view name) {
    if (name == "pi") {
      take_operand(tree_.number(std::numbers::pi));
    } else if (name.size() == 1 && 'x' <= name[0] && name[0] <= 'z') {
      take_operand(tree_.coordinate(name[0] - 'x'));
    } else {
      function_ = name;
    }
  }

  void take_sign() {
    switch (rest_.front()) {
      case '(':
        pending_.push_back({Kind::opening, 0, Operation::push, std::exchange(function_, {}), 0});
        after_operand_ = false;
        cut(1);
        return;
      case ')':
        cut(1);
        close();
        return;
      case ',':
        cut(1);
        reduce_to_opening();
        require(!pending_.empty());
        ++pending_.back().commas;
        after_operand_ = false;
        return;
      case '?':
        cut(1);
        reduce(1);
        pending_.push_back({Kind::question});
        after_operand_ = false;
        return;
      case ':':
        cut(1);
        reduce_to_opening();
        require(!pending_.empty() && pending_.back().kind == Kind::question);
        pending_.back().kind = Kind::colon;
        after_operand_ = false;
        return;
      default:
        take_operator();
    }
  }

  void take_operator() {
    const auto* const found =
        std::find_if(std::begin(kOperators), std::end(kOperators),
                     [&](const Operator& one) { return rest_.starts_with(one.text); });
    require(found != std::end(kOperators));
    cut(found->text.size());
    if (!after_operand_) {
      if (found->operation == Operation::subtract)
        pending_.push_back({Kind::negation, kSignPrecedence});
      return;
    }
    reduce(found->precedence == kPowerPrecedence ? kPowerPrecedence + 1 : found->precedence);
    pending_.push_back({Kind::binary, found->precedence, found->operation});
    after_operand_ = false;
  }

  NodeId pop() {
    require(!operands_.empty());
    const NodeId node = operands_.back();
    operands_.pop_back();
    return node;
  }

  // Applies the operators that bind at least as tightly.
  void reduce(int precedence) {
    while (!pending_.empty() && pending_.back().precedence >= precedence) {
      const Pending last = pending_.back();
      pending_.pop_back();
      const NodeId right = pop();
      operands_.push_back(last.kind == Kind::negation
                              ? tree_.applied(Operation::negate, right)
                              : tree_.applied(last.operation, pop(), right));
    }
  }

  void reduce_condition() {
    pending_.pop_back();
    const NodeId no = pop();
    const NodeId yes = pop();
    operands_.push_back(tree_.selected(pop(), yes, no));
  }

  // Applies all that stands after the last opening parenthesis or question mark.
  void reduce_to_opening() {
    while (reduce(1), !pending_.empty() && pending_.back().kind == Kind::colon) reduce_condition();
  }

  void close() {
    reduce_to_opening();
    require(!pending_.empty() && pending_.back().kind == Kind::opening);
    const Pending opening = pending_.back();
    pending_.pop_back();
    after_operand_ = true;
    const std::size_t count = static_cast<std::size_t>(opening.commas) + 1;
    require(operands_.size() >= count);
    if (opening.function.empty()) return require(count == 1);
    const auto* const found =
        std::find_if(std::begin(kFunctions), std::end(kFunctions),
                     [&](const NamedOperation& one) { return one.name == opening.function; });
    require(found != std::end(kFunctions));
    const Operation operation = found->operation;
    const std::vector<NodeId> arguments(operands_.end() - static_cast<std::ptrdiff_t>(count),
                                        operands_.end());
    operands_.resize(operands_.size() - count);
    NodeId result = arguments[0];
    if (has_one_argument(operation)) result = tree_.applied(operation, result);
    for (std::size_t i = 1; i < count; ++i) {
      result = tree_.applied(operation, result, arguments[i]);
    }
    if (opening.function == "avg") {
      result = tree_.applied(Operation::divide, result, tree_.number(static_cast<double>(count)));
    }
    operands_.push_back(result);
  }

  ExpressionTree& tree_;
  std::string_view rest_;
  std::vector<NodeId> operands_;
  std::vector<Pending> pending_;
  std::string_view function_;
  bool after_operand_ = false;
};

ExpressionTree::ExpressionTree(std::string_view text) { root_ = Parser(*this, text).parse(); }

std::optional<double> ExpressionTree::constant(NodeId node) const {
  if (nodes_[node].leaf != Operand::constant) return std::nullopt;
  return nodes_[node].value;
}

ExpressionTree::NodeId ExpressionTree::add(Node node) {
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size()) - 1;
}

ExpressionTree::NodeId ExpressionTree::number(double value) {
  return add({Operation::push, Operand::constant, value});
}

ExpressionTree::NodeId ExpressionTree::coordinate(int d) {
  constexpr Operand kCoordinates[] = {Operand::x, Operand::y, Operand::z};
  Node node{Operation::push, kCoordinates[d]};
  node.coordinates = 1U << d;
  return add(node);
}

ExpressionTree::NodeId ExpressionTree::applied(Operation operation, NodeId a) {
  if (const auto value = constant(a)) return number(with_one_argument(operation, *value, 0.0));
  Node node{operation};
  node.arguments[0] = a;
  node.coordinates = coordinates(a);
  node.depth = nodes_[a].depth;
  return add(node);
}

ExpressionTree::NodeId ExpressionTree::applied(Operation operation, NodeId a, NodeId b) {
  const auto left = constant(a);
  const auto right = constant(b);
  if (left && right) return number(with_two_arguments(operation, *left, *right));
  Node node{operation};
  if (operation == Operation::power && right && *right == std::trunc(*right) &&
      std::abs(*right) <= kMaxIntegerPower) {
    node.operation = Operation::integer_power;
    node.value = *right;
    b = -1;
  }
  node.arguments = {a, b, -1};
  node.coordinates = coordinates(a) | (b < 0 ? 0U : coordinates(b));
  node.depth = nodes_[a].depth;
  if (b >= 0 && !is_leaf(b)) {
    const int second = nodes_[b].depth;
    // The deeper argument first, where the operation can be reversed.
    node.depth = is_leaf(a) && reversed(operation) ? second
                 : reversed(operation)
                     ? std::max({node.depth, second, std::min(node.depth, second) + 1})
                     : std::max(node.depth, second + 1);
  }
  return add(node);
}

ExpressionTree::NodeId ExpressionTree::selected(NodeId condition, NodeId yes, NodeId no) {
  if (constant(condition) && constant(yes) && constant(no)) {
    return number(tessera::select(*constant(condition), *constant(yes), *constant(no)));
  }
  Node node{Operation::select};
  node.arguments = {condition, yes, no};
  node.coordinates = coordinates(condition) | coordinates(yes) | coordinates(no);
  node.depth = std::max({nodes_[condition].depth, nodes_[yes].depth + 1, nodes_[no].depth + 2});
  return add(node);
}

std::optional<std::array<ExpressionTree::NodeId, 3>> ExpressionTree::factors() {
  struct Part {
    NodeId node;
    Operation operation;  // multiply or divide
  };
  std::array<NodeId, 3> result = {number(1.0), number(1.0), number(1.0)};
  const auto append = [&](int d, const Part& part) {
    const bool is_first = constant(result[d]) == 1.0 && part.operation == Operation::multiply;
    result[d] = is_first ? part.node : applied(part.operation, result[d], part.node);
  };
  std::vector<Part> rest = {{root_, Operation::multiply}};
  while (!rest.empty()) {
    const Part part = rest.back();
    rest.pop_back();
    const Node node = nodes_[part.node];
    if ((node.coordinates & (node.coordinates - 1)) == 0) {
      append(node.coordinates > 1 ? static_cast<int>(node.coordinates) / 2 : 0, part);
    } else if (node.operation == Operation::negate) {
      append(0, {number(-1.0), Operation::multiply});
      rest.push_back({node.arguments[0], part.operation});
    } else if (node.operation == Operation::multiply || node.operation == Operation::divide) {
      const bool is_below = (node.operation == part.operation);
      rest.push_back({node.arguments[1], is_below ? Operation::multiply : Operation::divide});
      rest.push_back({node.arguments[0], part.operation});
    } else {
      return std::nullopt;
    }
  }
  return result;
}

FieldProgram ExpressionTree::program(NodeId node) const {
  FieldProgram program;
  program.depth = nodes_[node].depth;
  // What is still to be done, last first: nodes to compute, and instructions.
  struct Task {
    NodeId node;
    Instruction instruction;
  };
  std::vector<Task> tasks = {{node, {}}};
  const auto compute = [&](NodeId argument) { tasks.push_back({argument, {}}); };
  const auto then = [&](Operation operation, Operand operand, double value) {
    tasks.push_back({-1, {operation, operand, value}});
  };
  while (!tasks.empty()) {
    const Task task = tasks.back();
    tasks.pop_back();
    if (task.node < 0) {
      program.code.push_back(task.instruction);
      continue;
    }
    const Node& next = nodes_[task.node];
    const auto [a, b, c] = next.arguments;
    if (is_leaf(task.node)) {
      program.code.push_back({Operation::push, next.leaf, next.value});
    } else if (c >= 0 || b < 0) {
      then(next.operation, Operand::stack, next.value);
      for (const NodeId argument : {c, b, a}) {
        if (argument >= 0) compute(argument);
      }
    } else {
      const auto reverse = reversed(next.operation);
      if (is_leaf(b)) {
        then(next.operation, nodes_[b].leaf, nodes_[b].value);
        compute(a);
      } else if (reverse && is_leaf(a)) {
        then(*reverse, nodes_[a].leaf, nodes_[a].value);
        compute(b);
      } else {
        const bool is_reversed = reverse && nodes_[b].depth > nodes_[a].depth;
        then(is_reversed ? *reverse : next.operation, Operand::stack, 0.0);
        compute(is_reversed ? a : b);
        compute(is_reversed ? b : a);
      }
    }
  }
  return program;
}

}  // namespace tessera
