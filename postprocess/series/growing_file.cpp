// This file appends lines, and takes back what is not one.
#include "postprocess/series/growing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "postprocess/files/atomic_file.hpp"

namespace tessera {

GrowingFile::GrowingFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)) {
  if (descriptor_ < 0) throw OutputError(path_, std::strerror(errno));
}

GrowingFile::~GrowingFile() {
  // What was added is in the file; that the disk may not have it yet ends nothing.
  fsync(descriptor_);
  close(descriptor_);
}

void GrowingFile::add(std::string_view lines) {
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  while (!lines.empty()) {
    const ssize_t written = ::write(descriptor_, lines.data(), lines.size());
    if (written >= 0) {
      lines.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    const int error = errno;
    if (error == EINTR) continue;
    if (end >= 0 && ftruncate(descriptor_, end) != 0)
      throw OutputError(path_, std::strerror(errno));
    throw OutputError(path_, std::strerror(error));
  }
}

}  // namespace tessera
