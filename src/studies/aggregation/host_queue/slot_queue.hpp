// A queue of slots between many producers and many consumers (document 004, table A-1).
#pragma once

#include <cstdint>

namespace tessera {

/// What both sides know of a slot. Whoever holds the valid ticket may write here, so that no
/// atomic operation is needed, only the order of stores; neighbors do not share cache lines.
struct alignas(128) SlotFlags {
  std::uint32_t served = 0;  ///< how often the slot has been filled and emptied
  std::uint32_t full = 0;
};

/// The right to fill or to empty a slot when its turn comes.
struct SlotTicket {
  std::uint64_t number;  ///< among all tickets of the side
  std::uint32_t slot;
  std::uint32_t turn;  ///< among the tickets for this slot
};

// Memory says how a processor adds, loads and stores what others see:
//   std::uint64_t add(std::uint64_t* value, std::uint64_t more)   returns what was there; on memory
//                                                                 of the own side alone
//   std::uint32_t load(const std::uint32_t*)   what was stored before what it sees, is seen, too
//   void store(std::uint32_t*, std::uint32_t)  after all that this side has done before
// The functions are constexpr so that a GPU may call them.

/// Draws a ticket, for the slots in turn. Number and turn are one draw: who has the number of a
/// filled slot has its turn, too. @param drawn how many tickets the side has drawn, of producers or
/// of consumers; the other one never looks
template <class Memory>
constexpr SlotTicket draw_ticket(std::uint64_t* drawn, std::uint32_t slots) {
  const std::uint64_t number = Memory::add(drawn, 1);
  return {number, static_cast<std::uint32_t>(number % slots),
          static_cast<std::uint32_t>(number / slots)};
}

/// Whether the producer that has the ticket may fill the slot now.
template <class Memory>
constexpr bool may_fill(const SlotFlags* flags, const SlotTicket& ticket) {
  const SlotFlags& slot = flags[ticket.slot];
  return Memory::load(&slot.served) == ticket.turn && Memory::load(&slot.full) == 0;
}

/// The producer has filled the slot.
template <class Memory>
constexpr void publish(SlotFlags* flags, const SlotTicket& ticket) {
  Memory::store(&flags[ticket.slot].full, 1);
}

/// Whether the consumer that has the ticket may empty the slot now.
template <class Memory>
constexpr bool may_empty(const SlotFlags* flags, const SlotTicket& ticket) {
  const SlotFlags& slot = flags[ticket.slot];
  return Memory::load(&slot.served) == ticket.turn && Memory::load(&slot.full) == 1;
}

/// The consumer has emptied the slot. Its turn ends last: the next producer, who waits for that,
/// finds the slot empty.
template <class Memory>
constexpr void release(SlotFlags* flags, const SlotTicket& ticket) {
  Memory::store(&flags[ticket.slot].full, 0);
  Memory::store(&flags[ticket.slot].served, ticket.turn + 1);
}

}  // namespace tessera
