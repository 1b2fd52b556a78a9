// This file makes Butcher tables, its own and from those of ARKODE.
#include "solvers/time/butcher_tables.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera {
namespace {

using Table = SundialsHandle<ARKodeButcherTable>;

Table checked(ARKodeButcherTable table) {
  if (table == nullptr) throw std::bad_alloc();
  return Table(table);
}

Table backward_euler() {
  double c[] = {0.0, 1.0};
  double A[] = {0.0, 0.0, 0.0, 1.0};
  double b[] = {0.0, 1.0};
  // The trapezoidal rule.
  double embedded[] = {0.5, 0.5};
  // The estimate is of order 2 in dt, as that of a method of order 1 would be.
  return checked(ARKodeButcherTable_Create(2, 1, 1, c, A, b, embedded));
}

[[noreturn]] void refuse_order(const char* method, const char* orders, int order) {
  throw std::invalid_argument(std::string(method) + " has order " + orders + ", not " +
                              std::to_string(order));
}

Table with_error_estimate(TimeMethod method, int order) {
  constexpr ARKODE_DIRKTableID kImplicit[] = {ARKODE_TRBDF2_3_3_2, ARKODE_ESDIRK324L2SA_4_2_3,
                                              ARKODE_ESDIRK436L2SA_6_3_4};
  constexpr ARKODE_ERKTableID kExplicit[] = {ARKODE_HEUN_EULER_2_1_2, ARKODE_BOGACKI_SHAMPINE_4_2_3,
                                             ARKODE_ZONNEVELD_5_3_4};
  switch (method) {
    case TimeMethod::backward_euler:
      if (order != 1) refuse_order("backward-euler", "1", order);
      return backward_euler();
    case TimeMethod::sdirk:
      if (order < 2 || order > 4) refuse_order("sdirk", "2, 3 or 4", order);
      return checked(ARKodeButcherTable_LoadDIRK(kImplicit[order - 2]));
    case TimeMethod::explicit_rk:
      if (order < 2 || order > 4) refuse_order("explicit-rk", "2, 3 or 4", order);
      return checked(ARKodeButcherTable_LoadERK(kExplicit[order - 2]));
    case TimeMethod::bdf:
      break;
  }
  throw std::logic_error("a method has no Butcher table");
}

Table without_error_estimate(const ARKodeButcherTableMem& table) {
  std::vector<bool> is_kept(table.stages);
  for (int i = table.stages - 1; i >= 0; --i) {
    is_kept[i] = table.b[i] != 0.0;
    for (int j = i + 1; j < table.stages; ++j) {
      if (is_kept[j] && table.A[j][i] != 0.0) is_kept[i] = true;
    }
  }
  std::vector<double> c;
  std::vector<double> A;
  std::vector<double> b;
  for (int i = 0; i < table.stages; ++i) {
    if (!is_kept[i]) continue;
    c.push_back(table.c[i]);
    b.push_back(table.b[i]);
    for (int j = 0; j < table.stages; ++j) {
      if (is_kept[j]) A.push_back(table.A[i][j]);
    }
  }
  return checked(ARKodeButcherTable_Create(static_cast<int>(b.size()), table.q, 0, c.data(),
                                           A.data(), b.data(), nullptr));
}

}  // namespace

Table make_butcher_table(TimeMethod method, int order, StepLength length) {
  Table table = with_error_estimate(method, order);
  return length == StepLength::adaptive ? std::move(table) : without_error_estimate(*table);
}

bool ends_with_solution(const ARKodeButcherTableMem& table) {
  const int last = table.stages - 1;
  return table.c[last] == 1.0 && std::equal(table.b, table.b + table.stages, table.A[last]);
}

}  // namespace tessera
