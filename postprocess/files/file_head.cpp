// This file reads the beginnings of files.
#include "postprocess/files/file_head.hpp"

#include <fstream>

namespace tessera {

std::string file_head(const std::filesystem::path& path) {
  constexpr std::size_t kBytes = 512;
  std::ifstream file(path, std::ios::binary);
  std::string head(kBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

}  // namespace tessera
