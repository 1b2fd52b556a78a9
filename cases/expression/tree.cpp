// This file makes the nodes of trees, and programs of them.
#include "cases/expression/tree.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

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
  constexpr Operand kCoordinates[] = {Operand::x, Operand::y, Operand::z, Operand::t, Operand::u};
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

ExpressionTree ExpressionTree::at(double t) const {
  ExpressionTree result;
  std::vector<NodeId> places;
  result.nodes_.reserve(nodes_.size());
  places.reserve(nodes_.size());
  const auto moved = [&](const Node& node) {
    const auto argument = [&](int i) { return places[node.arguments[i]]; };
    if (node.operation == Operation::push) {
      return node.leaf == Operand::t ? result.number(t) : result.add(node);
    }
    if (node.operation == Operation::integer_power) {
      return result.applied(Operation::power, argument(0), result.number(node.value));
    }
    if (node.operation == Operation::select) {
      return result.selected(argument(0), argument(1), argument(2));
    }
    return has_one_argument(node.operation)
               ? result.applied(node.operation, argument(0))
               : result.applied(node.operation, argument(0), argument(1));
  };
  for (const Node& node : nodes_) places.push_back(moved(node));
  result.root_ = places[root_];
  return result;
}

std::optional<std::array<ExpressionTree::NodeId, 3>> ExpressionTree::factors() {
  if (depends_on_u()) return std::nullopt;
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
    const unsigned axes = node.coordinates & ~kTime;
    if ((axes & (axes - 1)) == 0) {
      append(axes > 1 ? static_cast<int>(axes) / 2 : 0, part);
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
