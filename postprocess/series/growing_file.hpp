// A GrowingFile is a text file that gets a line at a time.
#pragma once

#include <filesystem>
#include <string_view>

namespace tessera {

/// A text file that has its name from its first line on, and gets the others one at a time:
/// whatever ends the process, the lines that were added are there, and no part of another one.
class GrowingFile {
 public:
  /// @param path a file that exists and ends with a whole line
  /// @throws OutputError
  explicit GrowingFile(std::filesystem::path path);
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile();

  /// Appends lines, each with its newline; all of them or, if it throws, none. @throws OutputError
  void add(std::string_view lines);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace tessera
