// This file compares the build's instruction sets with those of the CPU, before anything else runs.
//
// It is compiled for the plainest CPU, and takes nothing from the C++ library: the linker
// keeps one copy of an inline function, which may be one compiled for the instruction sets in
// question.
#include "src/machine/cpu_check.hpp"

#include <unistd.h>

#include "cpu_features.hpp"

namespace tessera {
namespace {

constexpr int kNoResources = 3;
constexpr unsigned long kMaxText = 512;

struct Text {
  char characters[kMaxText] = {};
  unsigned long size = 0;

  void append(const char* more) {
    while (*more != '\0' && size + 1 < kMaxText) characters[size++] = *more++;
  }
};

Text list_missing() {
  Text missing;
#define TESSERA_CHECK(feature)                 \
  if (!__builtin_cpu_supports(feature)) {      \
    if (missing.size > 0) missing.append(" "); \
    missing.append(feature);                   \
  }
  TESSERA_FOR_EACH_CPU_FEATURE(TESSERA_CHECK)
#undef TESSERA_CHECK
  return missing;
}

// The first priority that programs may use: before the static objects of every other file.
[[gnu::constructor(101)]] void stop_on_lesser_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
#endif
  const Text missing = list_missing();
  if (missing.size == 0) return;
  Text message;
  message.append("tessera: this program was built for a CPU with more than this one has: ");
  message.append(missing.characters);
  message.append("; build it on this machine, or with -DTESSERA_ARCH=x86-64-v2\n");
  [[maybe_unused]] const long written = write(STDERR_FILENO, message.characters, message.size);
  _exit(kNoResources);
}

}  // namespace

const char* missing_cpu_features() {
  static Text missing;
  missing = list_missing();
  return missing.characters;
}

}  // namespace tessera
