// This file has FreeType draw glyphs, and blends them.
#include "postprocess/picture/canvas/font.hpp"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace tessera {
namespace {

// Of Debian and Ubuntu, Fedora, Arch, openSUSE.
constexpr const char* kPaths[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                  "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
                                  "/usr/share/fonts/TTF/DejaVuSans.ttf",
                                  "/usr/share/fonts/truetype/DejaVuSans.ttf"};

// Takes the next character off a text in UTF-8; 0 for a byte that begins none.
FT_ULong next_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80       ? 1
                             : lead >> 5 == 6  ? 2
                             : lead >> 4 == 14 ? 3
                             : lead >> 3 == 30 ? 4
                                               : 0;
  if (length == 0 || length > text.size()) {
    text.remove_prefix(1);
    return 0;
  }
  FT_ULong character = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) character = character << 6 | (byte(i) & 0x3FU);
  text.remove_prefix(length);
  return character;
}

}  // namespace

struct Font::Face {
  Face() {
    if (FT_Init_FreeType(&library) != 0) throw std::runtime_error("FreeType does not start");
  }
  ~Face() { FT_Done_FreeType(library); }
  Face(const Face&) = delete;
  Face& operator=(const Face&) = delete;

  // Calls use(glyph slot) for each character of the text.
  template <class Use>
  void for_each_glyph(std::string_view text, double size, FT_Int32 flags, Use&& use) const {
    if (face == nullptr) return;
    FT_Set_Char_Size(face, 0, std::lround(64.0 * size), 72, 72);
    while (!text.empty()) {
      const FT_ULong character = next_character(text);
      if (character < ' ' || FT_Load_Char(face, character, flags) != 0) continue;
      use(*face->glyph);
    }
  }

  FT_Library library = nullptr;
  FT_Face face = nullptr;
};

Font::Font() : face_(std::make_unique<Face>()) {
  for (const char* path : kPaths) {
    if (FT_New_Face(face_->library, path, 0, &face_->face) == 0) return;
    face_->face = nullptr;
  }
}

Font::~Font() = default;

bool Font::is_there() const { return face_->face != nullptr; }

double Font::width(std::string_view text, double size) const {
  double width = 0.0;
  face_->for_each_glyph(text, size, FT_LOAD_NO_HINTING, [&](const FT_GlyphSlotRec& glyph) {
    width += static_cast<double>(glyph.advance.x) / 64.0;
  });
  return width;
}

void Font::write(Image& image, std::string_view text, double x, double baseline, double size,
                 const Color& color, TextAlign align) const {
  if (align != TextAlign::left) x -= width(text, size) * (align == TextAlign::center ? 0.5 : 1.0);
  const int y = static_cast<int>(std::lround(baseline));
  const FT_Int32 flags = FT_LOAD_RENDER | FT_LOAD_NO_HINTING;
  face_->for_each_glyph(text, size, flags, [&](const FT_GlyphSlotRec& glyph) {
    const FT_Bitmap& bitmap = glyph.bitmap;
    const int left = static_cast<int>(std::lround(x)) + glyph.bitmap_left;
    for (unsigned row = 0; row < bitmap.rows; ++row) {
      for (unsigned column = 0; column < bitmap.width; ++column) {
        const auto opacity = bitmap.buffer[row * static_cast<unsigned>(bitmap.pitch) + column];
        image.blend(left + static_cast<int>(column), y - glyph.bitmap_top + static_cast<int>(row),
                    color, static_cast<float>(opacity) / 255.0F);
      }
    }
    x += static_cast<double>(glyph.advance.x) / 64.0;
  });
}

}  // namespace tessera
