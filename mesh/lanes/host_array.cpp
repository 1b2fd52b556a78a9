// This file allocates aligned memory with huge pages.
#include "mesh/lanes/host_array.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <memory>

namespace tessera {
namespace {

constexpr std::size_t kSimdAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void* allocate_first_touch(std::size_t bytes) {
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kSimdAlignment;
  void* pointer = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  if (alignment == kHugePage) advise_huge_pages(pointer, bytes);
  return pointer;
}

void advise_huge_pages(void* pointer, std::size_t bytes) noexcept {
  if (std::align(kHugePage, kHugePage, pointer, bytes) == nullptr) return;
  (void)madvise(pointer, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
}

void free_first_touch(void* pointer) noexcept { std::free(pointer); }

}  // namespace tessera
