// This function takes back what a table says of later times.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// The lines of a table, the first column of which is t, up to that time: the header and what
/// follows it up to the first line that is later, or is none. Nothing if the table has another
/// header, that of another version of the program apart.
/// @param header with its newline
std::optional<std::string> lines_until(std::string_view table, std::string_view header, double t);

}  // namespace tessera
