// These functions make the file that names the pieces of a grid, one for each rank.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "postprocess/vtk/vtu_file.hpp"

namespace tessera {

/// The text of a .pvtu file: the arrays that all pieces have, with their types, and the pieces.
/// @param content of any of the pieces @param pieces their files, relative to the .pvtu file's
/// folder
std::string pvtu_text(const VtuContent& content, std::span<const std::string> pieces);

/// The folder, beside it, of the pieces of a .pvtu file: "solution" of "solution.pvtu".
std::string pieces_folder(const std::string& pvtu_name);

/// The file of a rank's piece, such as "solution/0003.vtu": four digits, or as many as the last of
/// so many ranks needs.
std::string piece_name(const std::string& pvtu_name, int rank, int ranks);

/// Whether a file in such a folder has the name of a piece.
bool is_piece_name(std::string_view name);

}  // namespace tessera
