// This file writes temporary files, syncs them and renames them.
#include "postprocess/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace tessera {

OutputError::OutputError(const std::filesystem::path& path, const std::string& cause)
    : std::runtime_error("cannot write " + path.string() + ": " + cause),
      path_(path),
      cause_(cause) {}

bool OutputError::is_for_lack_of_space() const {
  return cause_ == std::strerror(ENOSPC) || cause_ == std::strerror(EDQUOT);
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code unknown;
  // A name such as /dev/null would be that of a file from then on.
  if (std::filesystem::is_other(path_, unknown)) {
    throw OutputError(path_, "it is no file, but a device, a pipe or a socket");
  }
  if (std::filesystem::is_directory(path_, unknown)) fail(EISDIR);
  const std::string name = path_.filename().string();
  // A crashed run of the same process id may have left the first names.
  constexpr int kAttempts = 100;
  for (int attempt = 0;; ++attempt) {
    temporary_path_ = path_.parent_path() / fmt::format(".{}.{}.{}.tmp", name, getpid(), attempt);
    unfinished_.emplace(temporary_path_);
    descriptor_ = open(temporary_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) break;
    const int error = errno;
    unfinished_.reset();
    if (error != EEXIST || attempt + 1 == kAttempts) fail(error);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

void AtomicFile::fail(int error) const { throw OutputError(path_, std::strerror(error)); }

void AtomicFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_at(Index offset, std::string_view bytes) {
  const Index first = offset;
  while (!bytes.empty()) {
    const ssize_t written = pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
  // Else the disk would idle until complete(). A page that will be written to again must not be on
  // its way meanwhile. Where this does not work, complete() does all.
  constexpr Index kPage = 65536;
  const Index begin = first / kPage * kPage;
  const Index end = offset / kPage * kPage;
  if (begin < end) sync_file_range(descriptor_, begin, end - begin, SYNC_FILE_RANGE_WRITE);
}

void AtomicFile::complete() {
  if (descriptor_ < 0) return;
  // Pipes and some network file systems cannot sync; that is no loss of data.
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  // Delayed write errors (NFS, quotas) are reported by close alone.
  if (close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
}

void AtomicFile::commit() {
  complete();
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) fail(errno);
  temporary_path_.clear();
  unfinished_.reset();
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace tessera
