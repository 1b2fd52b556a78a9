// A Font writes text into an image.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "postprocess/picture/canvas/image.hpp"

namespace tessera {

/// Which end of a text is at its position.
enum class TextAlign { left, center, right };

/// DejaVu Sans as the system has it. Without it, texts have no width and nothing is written.
class Font {
 public:
  /// @throws std::runtime_error if FreeType cannot be started
  Font();
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  bool is_there() const;
  /// Of a text in UTF-8, in pixels; size is that of an em. What is not UTF-8 is left out.
  double width(std::string_view text, double size) const;
  /// Writes a text. @param x, baseline the position of its end or center
  void write(Image& image, std::string_view text, double x, double baseline, double size,
             const Color& color, TextAlign align = TextAlign::left) const;

 private:
  struct Face;
  std::unique_ptr<Face> face_;
};

}  // namespace tessera
