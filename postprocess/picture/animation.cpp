// This file puts the compressed pixels of several PNG files into one.
#include "postprocess/picture/animation.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string_view>

namespace tessera {
namespace {

// Of a frame in the file, and as much once more while it is put together.
constexpr Index kFileBytes = 500'000;
constexpr std::size_t kSignatureSize = 8;
// Of a chunk: length and name before what it holds, checksum after it.
constexpr std::size_t kHeadSize = 8;
constexpr std::size_t kSumSize = 4;

// Numbers of PNG begin with the highest byte.
std::string number(std::uint32_t value, int bytes = 4) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xFFU);
  return text;
}

std::uint32_t number_at(std::string_view text) {
  std::uint32_t value = 0;
  for (const char byte : text.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

void add_chunk(std::string_view name, std::string_view content, std::string& file) {
  const std::string summed = std::string(name) + std::string(content);
  const uLong sum =
      crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  file += number(static_cast<std::uint32_t>(content.size()));
  file += summed;
  file += number(static_cast<std::uint32_t>(sum));
}

// Calls use(name, content) for each chunk of a PNG file.
void for_each_chunk(std::string_view png,
                    const std::function<void(std::string_view, std::string_view)>& use) {
  for (std::size_t at = kSignatureSize; at + kHeadSize + kSumSize <= png.size();) {
    const std::size_t size = number_at(png.substr(at));
    use(png.substr(at + 4, 4), png.substr(at + kHeadSize, size));
    at += kHeadSize + size + kSumSize;
  }
}

}  // namespace

std::string animated_png(std::span<const AnimationFrame> frames) {
  const std::string_view first = frames.front().png;
  std::string file(first.substr(0, kSignatureSize));
  std::string extent;
  for_each_chunk(first, [&](std::string_view name, std::string_view content) {
    if (name != "IHDR") return;
    extent = content.substr(0, 8);
    add_chunk(name, content, file);
  });
  constexpr std::uint32_t kForever = 0;
  add_chunk("acTL", number(static_cast<std::uint32_t>(frames.size())) + number(kForever), file);
  // Of all chunks that tell how frames follow each other.
  std::uint32_t sequence = 0;
  for (const AnimationFrame& frame : frames) {
    constexpr std::uint32_t kPerSecond = 1000;
    const double delay = std::clamp(std::round(frame.seconds * kPerSecond), 1.0, 65535.0);
    const std::string origin(8, '\0');
    // Each replaces the one before it as a whole.
    const std::string kept_and_replaced(2, '\0');
    std::string control = number(sequence++);
    control.append(extent).append(origin);
    control.append(number(static_cast<std::uint32_t>(delay), 2));
    control.append(number(kPerSecond, 2)).append(kept_and_replaced);
    add_chunk("fcTL", control, file);
    for_each_chunk(frame.png, [&](std::string_view name, std::string_view content) {
      if (name != "IDAT") return;
      if (&frame == &frames.front()) {
        add_chunk(name, content, file);
      } else {
        add_chunk("fdAT", number(sequence++) + std::string(content), file);
      }
    });
  }
  add_chunk("IEND", "", file);
  return file;
}

std::vector<AnimationFrame> frames_of(std::string_view file) {
  constexpr std::size_t kControlSize = 26;
  constexpr std::size_t kDelayAt = 20;
  std::string head(file.substr(0, kSignatureSize));
  std::vector<AnimationFrame> frames;
  for_each_chunk(file, [&](std::string_view name, std::string_view content) {
    if (name == "IHDR") add_chunk(name, content, head);
    if (name == "fcTL" && content.size() == kControlSize) {
      const std::uint32_t delay = number_at(content.substr(kDelayAt));
      const double parts = std::max<std::uint32_t>(delay & 0xFFFFU, 1);
      frames.push_back({head, static_cast<double>(delay >> 16) / parts});
    }
    if (frames.empty()) return;
    if (name == "IDAT") add_chunk(name, content, frames.back().png);
    if (name == "fdAT" && content.size() > 4) {
      add_chunk("IDAT", content.substr(4), frames.back().png);
    }
  });
  for (AnimationFrame& frame : frames) add_chunk("IEND", "", frame.png);
  return frames;
}

std::vector<AnimationFrame> every_second(const std::vector<AnimationFrame>& frames) {
  std::vector<AnimationFrame> kept;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i % 2 == 0 || i + 1 == frames.size()) {
      kept.push_back(frames[i]);
    } else {
      kept.back().seconds += frames[i].seconds;
    }
  }
  return kept;
}

Index animation_bytes(int dimension, Index outputs) {
  const Index pixels = dimension == 2 ? 160'000 : 182'000;  // that can show something
  const Index bytes = pixels * static_cast<Index>(sizeof(float)) + kFileBytes;
  return std::min<Index>(outputs, kMaxAnimationFrames) * bytes;
}

}  // namespace tessera
