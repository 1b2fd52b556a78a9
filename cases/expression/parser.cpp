// This file reads expressions into trees.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <numbers>
#include <utility>

#include "cases/expression/expression.hpp"
#include "cases/expression/tree.hpp"

namespace tessera {
namespace {

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
    } else if (const std::size_t d = std::string_view("xyztu").find(name);
               name.size() == 1 && d != std::string_view::npos) {
      take_operand(tree_.coordinate(static_cast<int>(d)));
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

}  // namespace tessera
