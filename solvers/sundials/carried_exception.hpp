// A CarriedException takes the exception of a callback through a C library.
#pragma once

#include <exception>
#include <utility>

namespace tessera {

/// Exceptions must not leave the callbacks of a C library: they wait here until it has returned.
class CarriedException {
 public:
  /// Calls f and keeps its exception, if it is the first. @returns whether f returned
  template <class F>
  bool call(F&& f) noexcept {
    try {
      f();
      return true;
    } catch (...) {
      if (!exception_) exception_ = std::current_exception();
      return false;
    }
  }

  bool waits() const { return exception_ != nullptr; }
  /// Throws what waits, if anything does.
  void rethrow() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  std::exception_ptr exception_;
};

}  // namespace tessera
