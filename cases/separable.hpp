// This function splits an expression into factors of one coordinate each.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace tessera {

/// Texts of functions of x, of y and of z whose product is a function of all three; "1" where a
/// coordinate does not occur.
using FactorTexts = std::array<std::string, 3>;

/// Splits an expression in muParser's language into factors of one coordinate each. The result is
/// empty if the expression is not written as a product or quotient of such factors. Numbers between
/// factors go to the factor of x.
///
/// Signs, redundant parentheses and products in them are seen through; powers of products and
/// functions such as exp(x + y) are not. The time is in proportion to the length of the text.
/// @param text an expression that muParser accepts
std::optional<FactorTexts> separate(const std::string& text);

}  // namespace tessera
