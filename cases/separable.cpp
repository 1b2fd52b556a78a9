#include "cases/separable.hpp"

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

using Part = std::span<const Token>;

// As it stands in the whole text.
std::string text_of(Part part) {
  const char* begin = part.front().text.data();
  const std::string_view last = part.back().text;
  return {begin, last.data() + last.size()};
}

// The coordinates that occur, as bits.
unsigned coordinates(Part part) {
  constexpr std::string_view kCoordinates[] = {"x", "y", "z"};
  unsigned used = 0;
  for (const Token& token : part) {
    for (unsigned d = 0; d < 3; ++d) {
      if (token.text == kCoordinates[d]) used |= 1U << d;
    }
  }
  return used;
}

// Where the parenthesis that the part begins with is closed.
std::size_t closing(Part part) {
  int depth = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    depth += part[i].kind == TokenKind::open ? 1 : part[i].kind == TokenKind::close ? -1 : 0;
    if (depth == 0) return i;
  }
  return part.size();
}

// A sign is an operator between two operands where something ends before it.
bool ends_operand(TokenKind kind) {
  return kind == TokenKind::number || kind == TokenKind::name || kind == TokenKind::close;
}

// Places of * and / outside parentheses; nothing where an operator that binds less is there.
std::optional<std::vector<std::size_t>> product_signs(Part part) {
  std::vector<std::size_t> places;
  int depth = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const TokenKind kind = part[i].kind;
    depth += kind == TokenKind::open ? 1 : kind == TokenKind::close ? -1 : 0;
    if (depth > 0) continue;
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
  // Multiplies by a part, or divides; false where it does not separate.
  bool take(Part part, Side side) {
    const unsigned used = coordinates(part);
    if ((used & (used - 1)) == 0) {
      append(used > 1 ? used / 2 : 0, text_of(part), side);
      return true;
    }
    const auto signs = product_signs(part);
    if (!signs) return false;
    if (signs->empty()) return take_single(part, side);
    std::size_t begin = 0;
    Side own = side;
    for (const std::size_t place : *signs) {
      if (!take(part.subspan(begin, place - begin), own)) return false;
      own = part[place].text == "*" ? side : other(side);
      begin = place + 1;
    }
    return take(part.subspan(begin), own);
  }

  FactorTexts texts() const {
    FactorTexts texts;
    for (int d = 0; d < 3; ++d) texts[d] = texts_[d].empty() ? "1" : texts_[d];
    return texts;
  }

 private:
  // A sign, or parentheses around all.
  bool take_single(Part part, Side side) {
    if (part.front().kind == TokenKind::sign) {
      if (part.front().text == "-") append(0, "-1", side);
      return take(part.subspan(1), side);
    }
    if (part.front().kind != TokenKind::open || closing(part) + 1 != part.size()) return false;
    return take(part.subspan(1, part.size() - 2), side);
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
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty()) return std::nullopt;
  Product product;
  if (!product.take(tokens, Side::above)) return std::nullopt;
  return product.texts();
}

}  // namespace tessera
