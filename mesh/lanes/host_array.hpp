// A HostArray is a large array whose pages are first touched by the threads that use them.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

/// An allocator that leaves values uninitialized, so that each page lies on the memory node of the
/// thread that first writes it. Memory is aligned to a SIMD vector, and large arrays ask for huge
/// pages.
/// @throws std::bad_alloc
template <class T>
struct FirstTouchAllocator {
  using value_type = T;

  FirstTouchAllocator() = default;
  template <class U>
  explicit FirstTouchAllocator(const FirstTouchAllocator<U>& /*other*/) {}

  T* allocate(std::size_t n);
  void deallocate(T* pointer, std::size_t n) noexcept;

  template <class U>
  void construct(U* pointer) noexcept {
    ::new (static_cast<void*>(pointer)) U;
  }
  template <class U, class... Arguments>
  void construct(U* pointer, Arguments&&... arguments) {
    ::new (static_cast<void*>(pointer)) U(std::forward<Arguments>(arguments)...);
  }
  /// Without it GCC 12 writes zeros over arrays of SIMD vectors before it gives them back.
  template <class U>
  void destroy(U* pointer) noexcept {
    if constexpr (!std::is_trivially_destructible_v<U>) pointer->~U();
  }
  bool operator==(const FirstTouchAllocator&) const = default;
};

/// Uninitialized, 64-byte aligned memory; huge pages from 4 MiB on. @throws std::bad_alloc
void* allocate_first_touch(std::size_t bytes);
void free_first_touch(void* pointer) noexcept;

/// Asks for huge pages for this memory, which must not have been touched yet. This is only a hint:
/// where the system refuses, small pages work as well.
void advise_huge_pages(void* pointer, std::size_t bytes) noexcept;

template <class T>
T* FirstTouchAllocator<T>::allocate(std::size_t n) {
  return static_cast<T*>(allocate_first_touch(n * sizeof(T)));
}

template <class T>
void FirstTouchAllocator<T>::deallocate(T* pointer, std::size_t) noexcept {
  free_first_touch(pointer);
}

/// A large array on the host; new elements are uninitialized.
template <class T>
using HostArray = std::vector<T, FirstTouchAllocator<T>>;

}  // namespace tessera
