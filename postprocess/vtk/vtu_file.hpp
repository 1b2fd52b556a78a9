// These structs are what a .vtu file consists of, and a function writes it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "mesh/partition.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/vtu_options.hpp"

namespace tessera {

/// One array of a .vtu file, which never is in memory as a whole.
struct VtuArray {
  std::string name;
  const char* type;  // in VTK's words, such as "Float32"
  int components;
  /// Of what is made at a time, such as a point, or all ids of a cell.
  Index items;
  Index item_bytes;
  /// Writes these items to `out`; called by several threads, each with a scratch of its own.
  std::function<void(Range items, std::byte* out, std::vector<double>& scratch)> make;
};

/// An element of the file that has arrays.
struct VtuSection {
  std::string name;        // such as "PointData"
  std::string attributes;  // such as " Scalars=\"solution\""
  std::vector<VtuArray> arrays;
};

/// A file with one piece.
struct VtuContent {
  const char* version;
  std::string field_data;  // the XML of this element
  Index points;
  Index cells;
  std::vector<VtuSection> sections;
};

/// How this machine orders the bytes of a number, in VTK's words.
const char* vtk_byte_order();
/// The bytes that write_vtu_file has at a time, but for the scratches.
Index vtu_block_bytes(int threads);
/// The most numbers that an array of numbers is asked for at a time.
Index numbers_per_vtu_block(FloatWidth width);

/// Writes the file: XML with appended raw binary data. Threads make and compress blocks of arrays,
/// and write them in their order, while others make the next.
/// @throws OutputError, and what the arrays throw
void write_vtu_file(AtomicFile& file, const VtuContent& content, VtkCompression compression);

}  // namespace tessera
