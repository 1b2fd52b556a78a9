// This file remembers paths where a signal handler can read them.
#include "postprocess/files/unfinished_paths.hpp"

#include <unistd.h>

#include <array>
#include <atomic>

namespace tessera {
namespace {

// A signal handler can read these, but no container that another thread may be changing.
constexpr int kMaxPaths = 64;
std::array<std::atomic<const char*>, kMaxPaths> paths{};
static_assert(std::atomic<const char*>::is_always_lock_free, "signal handlers need it");

}  // namespace

UnfinishedPath::UnfinishedPath(const std::filesystem::path& path) : path_(path.string()) {
  for (int slot = 0; slot < kMaxPaths && slot_ < 0; ++slot) {
    const char* none = nullptr;
    if (paths[slot].compare_exchange_strong(none, path_.c_str())) slot_ = slot;
  }
}

UnfinishedPath::~UnfinishedPath() {
  if (slot_ >= 0) paths[slot_] = nullptr;
}

void remove_unfinished_paths() noexcept {
  for (const auto& path : paths) {
    if (const char* const name = path.load()) unlink(name);
  }
  // A directory that holds another one was remembered after it.
  for (const auto& path : paths) {
    if (const char* const name = path.load()) rmdir(name);
  }
}

}  // namespace tessera
