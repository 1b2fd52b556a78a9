// Pieces of HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::report {

/// Text with the characters replaced that mean something in HTML, quotes included.
std::string escaped(std::string_view text);

/// Rows of text under headers; cells that are numbers are aligned to the right. Scrolls sideways
/// where it is wider than the page, and down where it is long.
std::string html_table(const std::vector<std::string>& headers,
                       const std::vector<std::vector<std::string>>& rows);

/// A line under a heading.
std::string paragraph(std::string_view text);

/// What is missing and why.
std::string gap(std::string_view text);

/// Text in fixed width behind a line that unfolds it.
std::string folded(std::string_view summary, std::string_view text);

/// Bytes as a data URI shows them.
std::string base64(std::string_view bytes);

}  // namespace tessera::report
