// This function looks at how a file begins.
#pragma once

#include <filesystem>
#include <string>

namespace tessera {

/// The first 512 bytes of a file, which tell what it is; fewer if it is shorter, none if it cannot
/// be read.
std::string file_head(const std::filesystem::path& path);

}  // namespace tessera
