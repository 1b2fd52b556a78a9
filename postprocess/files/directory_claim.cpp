// This file locks directories.
#include "postprocess/files/directory_claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "postprocess/files/atomic_file.hpp"
#include "postprocess/files/file_head.hpp"
#include "solvers/ranks/launched_processes.hpp"

namespace tessera {
namespace {

constexpr char kLockName[] = ".tessera_lock";

// Who has claimed the directory, for the message of who has not; empty if it is not known yet.
std::string holder(const std::filesystem::path& path) {
  const std::string text = file_head(path);
  return text.empty() ? "" : fmt::format(" ({})", text);
}

}  // namespace

DirectoryClaim::DirectoryClaim(const std::filesystem::path& directory)
    : path_(directory / kLockName) {
  // Whoever had the lock may have taken the file away since it was opened here. More often than
  // once in a while that happens only where the system does not know a file again.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    lock(directory);
    if (has_its_name()) break;
    close(std::exchange(descriptor_, -1));
  }
  if (descriptor_ < 0) throw OutputError(path_, "it cannot be locked");
  unfinished_.emplace(path_);
  const std::string text = fmt::format("process {} on {}", getpid(), host_name());
  // What does not fit on a full disk is missing in a message only.
  if (ftruncate(descriptor_, 0) != 0 || write(descriptor_, text.data(), text.size()) < 0) return;
}

DirectoryClaim::~DirectoryClaim() {
  unfinished_.reset();
  // The name goes before the lock, so that nobody locks a file that is about to go.
  unlink(path_.c_str());
  close(descriptor_);
}

void DirectoryClaim::lock(const std::filesystem::path& directory) {
  // Network file systems lock only what is open for writing: no directories.
  descriptor_ = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw OutputError(path_, std::strerror(errno));
  // Any other failure is that of a file system without locks.
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  close(std::exchange(descriptor_, -1));
  throw OutputError(directory, fmt::format("another run{} is writing to it; choose another "
                                           "directory or wait for its end",
                                           holder(path_)));
}

bool DirectoryClaim::has_its_name() const {
  struct stat locked {};
  struct stat named {};
  return fstat(descriptor_, &locked) == 0 && stat(path_.c_str(), &named) == 0 &&
         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

}  // namespace tessera
