// This file links files and copies those that cannot be linked.
#include "postprocess/files/kept_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>
#include <utility>

#include "postprocess/files/atomic_file.hpp"

namespace tessera {

namespace fs = std::filesystem;

KeptFile::KeptFile(const fs::path& path, fs::path new_path)
    : path_(std::move(new_path)),
      temporary_path_(path_.parent_path() /
                      fmt::format(".{}.{}.kept.tmp", path_.filename().string(), getpid())) {
  std::error_code error;
  // A crashed run of the same process id may have left it.
  fs::remove(temporary_path_, error);
  unfinished_.emplace(temporary_path_);
  fs::create_hard_link(path, temporary_path_, error);
  if (error) fs::copy_file(path, temporary_path_, error);
  if (!error) return;
  std::error_code ignored;
  fs::remove(temporary_path_, ignored);
  throw OutputError(path_, error.message());
}

KeptFile::~KeptFile() {
  std::error_code ignored;
  if (!temporary_path_.empty()) fs::remove(temporary_path_, ignored);
}

void KeptFile::commit() {
  std::error_code error;
  fs::rename(temporary_path_, path_, error);
  if (error) throw OutputError(path_, error.message());
  temporary_path_.clear();
  unfinished_.reset();
}

}  // namespace tessera
