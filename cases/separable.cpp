// This file finds products in the tokens of an expression.
#include "cases/separable.hpp"

#include <array>
#include <cctype>
#include <span>
#include <string_view>
#include <vector>

namespace tessera {
namespace {

enum class TokenKind { number, name, open, close, sign, product, power, other };

struct Token {
  TokenKind kind;
  std::string_view text;
  /// For an opening parenthesis, the number of tokens from it to the one that closes it.
  std::size_t closing = 0;
  /// How often each coordinate occurs in the tokens before this one.
  std::array<std::size_t, 3> before{};
  /// The coordinate that the token is, as a bit; 0 for none.
  unsigned coordinate = 0;
};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t number_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  std::size_t n = 0;
  while (is_digit(at(n)) || at(n) == '.') ++n;
  if (at(n) != 'e' && at(n) != 'E') return n;
  std::size_t exponent = n + 1;
  if (at(exponent) == '+' || at(exponent) == '-') ++exponent;
  if (!is_digit(at(exponent))) return n;
  while (is_digit(at(exponent))) ++exponent;
  return exponent;
}

TokenKind kind_of(char c) {
  switch (c) {
    case '(':
      return TokenKind::open;
    case ')':
      return TokenKind::close;
    case '+':
    case '-':
      return TokenKind::sign;
    case '*':
    case '/':
      return TokenKind::product;
    case '^':
      return TokenKind::power;
    default:
      return TokenKind::other;
  }
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    Token token{kind_of(text[i]), text.substr(i, 1)};
    if (is_digit(text[i]) || text[i] == '.') {
      token = {TokenKind::number, text.substr(i, number_length(text.substr(i)))};
    } else if (is_name(text[i])) {
      std::size_t n = 1;
      while (i + n < text.size() && is_name(text[i + n])) ++n;
      token = {TokenKind::name, text.substr(i, n)};
    }
    tokens.push_back(token);
    i += token.text.size();
  }
  return tokens;
}

// Stores with the tokens what is asked of parts of the text many times, so that nobody need go
// through the parts.
void link(std::vector<Token>& tokens) {
  constexpr std::string_view kCoordinates[] = {"x", "y", "z"};
  std::vector<std::size_t> open;
  std::array<std::size_t, 3> seen{};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    token.before = seen;
    for (unsigned d = 0; d < 3; ++d) {
      if (token.text != kCoordinates[d]) continue;
      token.coordinate = 1U << d;
      ++seen[d];
    }
    if (token.kind == TokenKind::open) open.push_back(i);
    if (token.kind != TokenKind::close || open.empty()) continue;
    tokens[open.back()].closing = i - open.back();
    open.pop_back();
  }
}

using Part = std::span<const Token>;

// The part as it stands in the whole text.
std::string text_of(Part part) {
  const char* begin = part.front().text.data();
  const std::string_view last = part.back().text;
  return {begin, last.data() + last.size()};
}

// The coordinates that occur, as bits.
unsigned coordinates(Part part) {
  unsigned used = part.back().coordinate;
  for (unsigned d = 0; d < 3; ++d) {
    if (part.back().before[d] > part.front().before[d]) used |= 1U << d;
  }
  return used;
}

// Whether an operand ends with this token: a sign after it is then an operator between two
// operands.
bool ends_operand(TokenKind kind) {
  return kind == TokenKind::number || kind == TokenKind::name || kind == TokenKind::close;
}

// The places of * and / outside parentheses; empty if there is also an operator that binds less
// tightly.
std::optional<std::vector<std::size_t>> product_signs(Part part) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < part.size(); ++i) {
    i += part[i].closing;
    const TokenKind kind = part[i].kind;
    if (kind == TokenKind::other) return std::nullopt;
    if (kind == TokenKind::sign && i > 0 && ends_operand(part[i - 1].kind)) return std::nullopt;
    if (kind == TokenKind::product) places.push_back(i);
  }
  return places;
}

enum class Side { above, below };

Side other(Side side) { return side == Side::above ? Side::below : Side::above; }

class Product {
 public:
  // Multiplies by the factors of a text; returns false if it does not separate. It does without
  // recursion, because a text may have thousands of nested parentheses.
  bool take(Part whole) {
    std::vector<Signed> rest = {{whole, Side::above}};
    while (!rest.empty()) {
      const auto [part, side] = rest.back();
      rest.pop_back();
      if (part.empty()) return false;
      const unsigned used = coordinates(part);
      if ((used & (used - 1)) == 0) {
        append(used > 1 ? used / 2 : 0, text_of(part), side);
        continue;
      }
      const auto signs = product_signs(part);
      if (!signs) return false;
      if (!signs->empty()) {
        push_factors(part, *signs, side, rest);
      } else if (part.front().kind == TokenKind::sign) {
        if (part.front().text == "-") append(0, "-1", side);
        rest.push_back({part.subspan(1), side});
      } else if (part.front().kind == TokenKind::open && part.front().closing + 1 == part.size()) {
        rest.push_back({part.subspan(1, part.size() - 2), side});
      } else {
        return false;
      }
    }
    return true;
  }

  FactorTexts texts() const {
    FactorTexts texts;
    for (int d = 0; d < 3; ++d) texts[d] = texts_[d].empty() ? "1" : texts_[d];
    return texts;
  }

 private:
  struct Signed {
    Part part;
    Side side;
  };

  // Pushes the last factor first, so that the first one is taken next.
  static void push_factors(Part part, const std::vector<std::size_t>& signs, Side side,
                           std::vector<Signed>& rest) {
    std::size_t end = part.size();
    for (std::size_t i = signs.size(); i-- > 0;) {
      const std::size_t begin = signs[i] + 1;
      rest.push_back(
          {part.subspan(begin, end - begin), part[signs[i]].text == "*" ? side : other(side)});
      end = signs[i];
    }
    rest.push_back({part.first(end), side});
  }

  void append(unsigned d, const std::string& text, Side side) {
    std::string& factor = texts_[d];
    if (side == Side::below) {
      factor += (factor.empty() ? "1/(" : "/(") + text + ")";
    } else {
      factor += (factor.empty() ? "(" : "*(") + text + ")";
    }
  }

  FactorTexts texts_;
};

}  // namespace

std::optional<FactorTexts> separate(const std::string& text) {
  std::vector<Token> tokens = tokens_of(text);
  link(tokens);
  Product product;
  if (!product.take(tokens)) return std::nullopt;
  return product.texts();
}

}  // namespace tessera
