// This file writes pieces of HTML; whatever comes in is escaped.
#include "postprocess/report/html.hpp"

#include <fmt/format.h>

#include <iterator>

namespace tessera::report {
namespace {

// More scroll on the screen; on paper all are there.
constexpr std::size_t kRowsInView = 30;
constexpr std::size_t kColumnsOnPaper = 14;
constexpr std::size_t kLongestWithoutBreak = 28;

bool is_numeric(std::string_view text) {
  return !text.empty() && (text.front() == '-' || text.front() == '+' ||
                           (text.front() >= '0' && text.front() <= '9'));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string html_table(const std::vector<std::string>& headers,
                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> numeric(headers.size(), false);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < numeric.size(); ++i) {
      if (is_numeric(row[i])) numeric[i] = true;
    }
  }
  const auto kind = [&](std::size_t i) { return numeric[i] ? " class=\"n\"" : ""; };
  std::string html = fmt::format("<div class=\"table{}{}\" tabindex=\"0\"><table><thead><tr>",
                                 rows.size() > kRowsInView ? " long" : "",
                                 headers.size() > kColumnsOnPaper ? " wide" : "");
  for (std::size_t i = 0; i < headers.size(); ++i) {
    fmt::format_to(std::back_inserter(html), "<th scope=\"col\"{}>{}</th>", kind(i),
                   escaped(headers[i]));
  }
  html += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const std::string cell = i < row.size() ? row[i] : "";
      fmt::format_to(std::back_inserter(html), "<td{}>{}</td>",
                     cell.size() > kLongestWithoutBreak ? " class=\"text\"" : kind(i),
                     escaped(cell));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", escaped(text)); }

std::string gap(std::string_view text) {
  return fmt::format("<p class=\"gap\">{}</p>\n", escaped(text));
}

std::string folded(std::string_view summary, std::string_view text) {
  return fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", escaped(summary),
                     escaped(text));
}

std::string base64(std::string_view bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t n = 0; n < 3; ++n) {
      group =
          (group << 8U) | (i + n < bytes.size() ? static_cast<unsigned char>(bytes[i + n]) : 0U);
    }
    for (std::size_t n = 0; n < 4; ++n) {
      text += i + n > bytes.size() ? '=' : kLetters[(group >> (18U - 6U * n)) & 0x3FU];
    }
  }
  return text;
}

}  // namespace tessera::report
