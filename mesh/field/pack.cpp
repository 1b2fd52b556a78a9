// This file maps the functions of packs to those of the system's vector library.
#include "mesh/field/pack.hpp"

#include <cmath>

namespace tessera {
namespace {

// The functions of <cmath>, lane by lane.
template <class F>
Pack lane_by_lane(const Pack& a, F&& f) {
  return mapped(a, [&](Lanes<double> v) {
    for (int lane = 0; lane < kLanes<double>; ++lane) v[lane] = f(v[lane]);
    return v;
  });
}
template <class F>
[[maybe_unused]] Pack lane_by_lane(const Pack& a, const Pack& b, F&& f) {
  return mapped(a, b, [&](Lanes<double> v, Lanes<double> w) {
    for (int lane = 0; lane < kLanes<double>; ++lane) v[lane] = f(v[lane], w[lane]);
    return v;
  });
}

}  // namespace

Pack abs(const Pack& a) {
  return lane_by_lane(a, [](double v) { return std::abs(v); });
}
Pack floor(const Pack& a) {
  return lane_by_lane(a, [](double v) { return std::floor(v); });
}
Pack sqrt(const Pack& a) {
  return lane_by_lane(a, [](double v) { return std::sqrt(v); });
}

#if defined(TESSERA_HAS_VECTOR_LIBRARY)
// The names of the x86 vector function ABI: the letter of the instruction set, the number of lanes,
// a v for each argument.
#if defined(__AVX512F__)
#define TESSERA_VECTOR_NAME(arguments, name) "_ZGVeN8" #arguments "_" #name
#elif defined(__AVX2__)
#define TESSERA_VECTOR_NAME(arguments, name) "_ZGVdN4" #arguments "_" #name
#elif defined(__AVX__)
#define TESSERA_VECTOR_NAME(arguments, name) "_ZGVcN4" #arguments "_" #name
#else
#define TESSERA_VECTOR_NAME(arguments, name) "_ZGVbN2" #arguments "_" #name
#endif
#define TESSERA_PACK_FUNCTION(name)                                                            \
  extern "C" Lanes<double> vector_##name(Lanes<double>) __asm__(TESSERA_VECTOR_NAME(v, name)); \
  Pack name(const Pack& a) { return mapped(a, vector_##name); }
#define TESSERA_PACK_FUNCTION_OF_TWO(name)                                                      \
  extern "C" Lanes<double> vector_##name(Lanes<double>,                                         \
                                         Lanes<double>) __asm__(TESSERA_VECTOR_NAME(vv, name)); \
  Pack name(const Pack& a, const Pack& b) { return mapped(a, b, vector_##name); }
#else
#define TESSERA_PACK_FUNCTION(name)                                \
  Pack name(const Pack& a) {                                       \
    return lane_by_lane(a, [](double v) { return std::name(v); }); \
  }
#define TESSERA_PACK_FUNCTION_OF_TWO(name)                                         \
  Pack name(const Pack& a, const Pack& b) {                                        \
    return lane_by_lane(a, b, [](double v, double w) { return std::name(v, w); }); \
  }
#endif

TESSERA_PACK_FUNCTION(sin)
TESSERA_PACK_FUNCTION(cos)
TESSERA_PACK_FUNCTION(tan)
TESSERA_PACK_FUNCTION(asin)
TESSERA_PACK_FUNCTION(acos)
TESSERA_PACK_FUNCTION(atan)
TESSERA_PACK_FUNCTION(sinh)
TESSERA_PACK_FUNCTION(cosh)
TESSERA_PACK_FUNCTION(tanh)
TESSERA_PACK_FUNCTION(asinh)
TESSERA_PACK_FUNCTION(acosh)
TESSERA_PACK_FUNCTION(atanh)
TESSERA_PACK_FUNCTION(exp)
TESSERA_PACK_FUNCTION(log)
TESSERA_PACK_FUNCTION(log2)
TESSERA_PACK_FUNCTION(log10)
TESSERA_PACK_FUNCTION_OF_TWO(atan2)
TESSERA_PACK_FUNCTION_OF_TWO(pow)

}  // namespace tessera
