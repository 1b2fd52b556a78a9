// This file has the vector operations of the host.
#include "solvers/memory/vector.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <new>
#include <vector>

#include "solvers/memory/dot_products.hpp"
#include "solvers/memory/entry_sums.hpp"

namespace tessera {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

template <class T>
auto square_in(const HostVector<T>& x) {
  return [x = x.data()](std::int64_t i) {
    return static_cast<double>(x[i]) * static_cast<double>(x[i]);
  };
}

// Sums over all ranks from those over all entries of this one.
template <class T>
void finish(std::span<const HostVector<T>* const> x, const HostVector<T>& y,
            std::span<double> sums) {
  if (y.layout().shared == nullptr) return;
  for (const EntryPlane& plane : y.layout().shared->not_owned()) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      sums[k] -= plane_sums<1>(plane, [x = x[k]->data(), y = y.data()](std::int64_t i) {
        return std::array<double, 1>{static_cast<double>(x[i]) * static_cast<double>(y[i])};
      })[0];
    }
  }
  y.layout().shared->ranks().sum(sums);
}

}  // namespace

template <class T>
Vector<T, Host>::Vector(VectorLayout layout) : layout_(std::move(layout)) {
  const std::size_t bytes = static_cast<std::size_t>(size()) * sizeof(T);
  const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  data_ = static_cast<T*>(std::aligned_alloc(alignment, std::max(rounded, alignment)));
  if (data_ == nullptr) throw std::bad_alloc();
  // This is only a hint: where the kernel refuses, small pages work as well.
  if (alignment == kHugePage) (void)madvise(data_, bytes, MADV_HUGEPAGE);
  fill(*this, T{0});
}

template <class T>
Vector<T, Host>::~Vector() {
  std::free(data_);
}

template <class T>
void fill(HostVector<T>& x, T value) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] = value;
}

template <class T>
void copy(const HostVector<T>& x, HostVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
}

template <class T>
double dot(const HostVector<T>& x, const HostVector<T>& y) {
  TESSERA_CHECK(x.layout() == y.layout());
  return entry_sum(x.layout(), [x = x.data(), y = y.data()](std::int64_t i) {
    return static_cast<double>(x[i]) * static_cast<double>(y[i]);
  });
}

template <class T>
void DotProducts<Host>::sum(std::span<const HostVector<T>* const> x, const HostVector<T>& y,
                            std::span<double> sums) {
  TESSERA_CHECK(x.size() == sums.size());
  for (const HostVector<T>* vector : x) TESSERA_CHECK(vector->layout() == y.layout());
  const std::int64_t blocks = (y.size() + kReductionBlock - 1) / kReductionBlock;
  std::vector<double> partial(static_cast<std::size_t>(blocks) * x.size());
  // The block of y stays in the cache while the vectors go by.
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t end = std::min(y.size(), (b + 1) * kReductionBlock);
    for (std::size_t k = 0; k < x.size(); ++k) {
      partial[b * x.size() + k] =
          chained_sum(b * kReductionBlock, end, [x = x[k]->data(), y = y.data()](std::int64_t i) {
            return static_cast<double>(x[i]) * static_cast<double>(y[i]);
          });
    }
  }
  std::fill(sums.begin(), sums.end(), 0.0);
  for (std::size_t i = 0; i < partial.size(); ++i) sums[i % x.size()] += partial[i];
  finish(x, y, sums);
}

template <class T>
double norm(const HostVector<T>& x) {
  return std::sqrt(dot(x, x));
}

template <class T>
void axpy(T a, const HostVector<T>& x, HostVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] += a * x[i];
}

template <class T>
void aypx(const HostVector<T>& x, T b, HostVector<T>& y) {
  TESSERA_CHECK(x.size() == y.size());
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + b * y[i];
}

template <class T>
void combine(std::span<const T> a, std::span<const HostVector<T>* const> x, HostVector<T>& y) {
  const std::size_t terms = x.size();
  TESSERA_CHECK(0 < terms && terms <= kMaxCombinedVectors && a.size() == terms);
  for (const HostVector<T>* vector : x) TESSERA_CHECK(vector->size() == y.size());
  // The sums of some cache lines stay in registers while the vectors go by.
  constexpr std::int64_t kLane = 256 / sizeof(T);
  const std::int64_t lanes = (y.size() + kLane - 1) / kLane;
#pragma omp parallel for schedule(static)
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const std::int64_t begin = lane * kLane;
    const std::int64_t count = std::min(kLane, y.size() - begin);
    std::array<T, kLane> sum;
    const auto add_all = [&](std::int64_t entries) {
      for (std::int64_t i = 0; i < entries; ++i) sum[i] = a[0] * x[0]->data()[begin + i];
      for (std::size_t k = 1; k < terms; ++k) {
        const T* const values = x[k]->data() + begin;
        for (std::int64_t i = 0; i < entries; ++i) sum[i] += a[k] * values[i];
      }
      std::copy_n(sum.data(), entries, y.data() + begin);
    };
    if (count == kLane) {
      add_all(kLane);
    } else {
      add_all(count);
    }
  }
}

template <class T>
void multiply(const HostVector<T>& x, const HostVector<T>& y, HostVector<T>& z) {
  TESSERA_CHECK(x.size() == z.size() && y.size() == z.size());
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < x.size(); ++i) z[i] = x[i] * y[i];
}

template <class T>
void invert_entries(HostVector<T>& x) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < x.size(); ++i) x[i] = T{1} / x[i];
}

template <class T>
double update_solution_and_residual(T a, const HostVector<T>& p, const HostVector<T>& q,
                                    HostVector<T>& x, HostVector<T>& r) {
  TESSERA_CHECK(p.size() == x.size() && q.size() == x.size() && r.size() == x.size());
  return entry_sum(
      r.layout(),
      [a, p = p.data(), q = q.data(), x = x.data(), r = r.data()](std::int64_t i) {
        x[i] += a * p[i];
        r[i] -= a * q[i];
        return static_cast<double>(r[i]) * static_cast<double>(r[i]);
      },
      square_in(r));
}

template <class T>
double update_residual_and_direction(T a, T b, const HostVector<T>& q, HostVector<T>& r,
                                     HostVector<T>& p) {
  TESSERA_CHECK(q.size() == r.size() && p.size() == r.size());
  return entry_sum(
      r.layout(),
      [a, b, q = q.data(), r = r.data(), p = p.data()](std::int64_t i) {
        r[i] -= a * q[i];
        p[i] = r[i] + b * p[i];
        return static_cast<double>(r[i]) * static_cast<double>(r[i]);
      },
      square_in(r));
}

template <class T>
double update_all(T a, T b, T c, const HostVector<T>& q, HostVector<T>& x, HostVector<T>& r,
                  HostVector<T>& p) {
  TESSERA_CHECK(q.size() == x.size() && r.size() == x.size() && p.size() == x.size());
  return entry_sum(
      r.layout(),
      [a, b, c, q = q.data(), x = x.data(), r = r.data(), p = p.data()](std::int64_t i) {
        x[i] += c * (p[i] - r[i]) + a * p[i];
        r[i] -= a * q[i];
        p[i] = r[i] + b * p[i];
        return static_cast<double>(r[i]) * static_cast<double>(r[i]);
      },
      square_in(r));
}

template <class T>
void add_differences(T a, const HostVector<T>& x, const HostVector<T>& y, HostVector<T>& z) {
  TESSERA_CHECK(x.size() == z.size() && y.size() == z.size());
  const T* const from_x = x.data();
  const T* const from_y = y.data();
  T* const to = z.data();
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < z.size(); ++i) to[i] += a * (from_x[i] - from_y[i]);
}

template <class T>
double subtract_from(const HostVector<T>& b, HostVector<T>& r) {
  TESSERA_CHECK(b.size() == r.size());
  return entry_sum(
      r.layout(),
      [b = b.data(), r = r.data()](std::int64_t i) {
        r[i] = b[i] - r[i];
        return static_cast<double>(r[i]) * static_cast<double>(r[i]);
      },
      square_in(r));
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template class Vector<T, Host>;                                                               \
  template void fill(HostVector<T>&, T);                                                        \
  template void copy(const HostVector<T>&, HostVector<T>&);                                     \
  template double dot(const HostVector<T>&, const HostVector<T>&);                              \
  template void DotProducts<Host>::sum(std::span<const HostVector<T>* const>,                   \
                                       const HostVector<T>&, std::span<double>);                \
  template double norm(const HostVector<T>&);                                                   \
  template void axpy(T, const HostVector<T>&, HostVector<T>&);                                  \
  template void aypx(const HostVector<T>&, T, HostVector<T>&);                                  \
  template void combine(std::span<const T>, std::span<const HostVector<T>* const>,              \
                        HostVector<T>&);                                                        \
  template void multiply(const HostVector<T>&, const HostVector<T>&, HostVector<T>&);           \
  template void invert_entries(HostVector<T>&);                                                 \
  template double update_solution_and_residual(T, const HostVector<T>&, const HostVector<T>&,   \
                                               HostVector<T>&, HostVector<T>&);                 \
  template double update_residual_and_direction(T, T, const HostVector<T>&, HostVector<T>&,     \
                                                HostVector<T>&);                                \
  template double update_all(T, T, T, const HostVector<T>&, HostVector<T>&, HostVector<T>&,     \
                             HostVector<T>&);                                                   \
  template void add_differences(T, const HostVector<T>&, const HostVector<T>&, HostVector<T>&); \
  template double subtract_from(const HostVector<T>&, HostVector<T>&);

TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(float)
#undef TESSERA_INSTANTIATE

}  // namespace tessera
