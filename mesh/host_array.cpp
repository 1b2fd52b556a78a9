#include "mesh/host_array.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace tessera {
namespace {

constexpr std::size_t kSimdAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* allocate_first_touch(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kSimdAlignment;
  void* pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  // Only a hint: where the kernel refuses, small pages work as well.
  if (alignment == kHugePage) (void)madvise(pointer, bytes, MADV_HUGEPAGE);
  return pointer;
}

void free_first_touch(void* pointer) noexcept { std::free(pointer); }

}  // namespace tessera
