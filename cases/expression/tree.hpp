// An ExpressionTree is an expression as operations on operations, of which programs are made.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "mesh/field/field_program.hpp"

namespace tessera {

/// The operations of an expression in muParser's language. What has no coordinate in it is computed
/// at once and is a number of the tree. Nothing here is recursive: a text may have thousands of
/// nested parentheses.
class ExpressionTree {
 public:
  /// The place of a node in the tree; its arguments have smaller ones.
  using NodeId = int;

  /// @param text an expression that muParser accepts, with one value and without assignments
  explicit ExpressionTree(std::string_view text);

  NodeId root() const { return root_; }
  /// The value of a node without coordinates.
  std::optional<double> constant(NodeId node) const;
  /// The coordinates that the part of the expression at a node has, as bits: x lowest, y, z, t, u.
  unsigned coordinates(NodeId node) const { return nodes_[node].coordinates; }

  bool depends_on_time() const { return (coordinates(root_) & kTime) != 0; }
  bool depends_on_u() const { return (coordinates(root_) & kU) != 0; }
  /// Whether it has a coordinate other than t: u differs from place to place as well.
  bool depends_on_place() const { return (coordinates(root_) & ~kTime) != 0; }

  /// The expression with a number for t: the tree of the text with that number.
  ExpressionTree at(double t) const;

  /// Splits the expression into factors of one coordinate each, whose product it is; empty if it
  /// depends on u or is not written as a product or quotient of such factors. A number, for which t
  /// counts, goes to the factor that it stands beside, or to that of x. Signs, parentheses and
  /// products in them are seen through; powers of products and functions such as exp(x + y) are
  /// not.
  std::optional<std::array<NodeId, 3>> factors();

  /// The program of a node.
  FieldProgram program(NodeId node) const;

 private:
  static constexpr unsigned kTime = 8;
  static constexpr unsigned kU = 16;
  struct Node {
    Operation operation;
    /// What a node without arguments is.
    Operand leaf = Operand::stack;
    double value = 0.0;
    std::array<NodeId, 3> arguments = {-1, -1, -1};
    unsigned coordinates = 0;
    /// The number of values on the stack when it is computed.
    int depth = 1;
  };
  class Parser;

  ExpressionTree() = default;

  bool is_leaf(NodeId node) const { return nodes_[node].operation == Operation::push; }
  NodeId add(Node node);
  NodeId number(double value);
  /// @param d 0, 1, 2 for x, y, z, 3 for t and 4 for u
  NodeId coordinate(int d);
  NodeId applied(Operation operation, NodeId a);
  NodeId applied(Operation operation, NodeId a, NodeId b);
  NodeId selected(NodeId condition, NodeId yes, NodeId no);

  std::vector<Node> nodes_;
  NodeId root_ = -1;
};

}  // namespace tessera
