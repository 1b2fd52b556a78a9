// This function splits an expression into factors of one coordinate each.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace tessera {

/// Texts of functions of x, of y and of z whose product is a function of all three; "1" where a
/// coordinate does not occur.
using FactorTexts = std::array<std::string, 3>;

/// Splits an expression in muParser's language into factors of one coordinate each; nothing where
/// it is, as written, no product or quotient of such. Numbers between factors go to the factor of
/// x.
///
/// Signs, redundant parentheses and products in them are seen through; powers of products and
/// functions such as exp(x + y) are not. Takes a time in proportion to the text's length.
/// @param text an expression that muParser accepts
std::optional<FactorTexts> separate(const std::string& text);

}  // namespace tessera
