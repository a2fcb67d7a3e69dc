// SPDX-License-Identifier: MIT
// Lifecycle: when a worker claims, blocks, keeps the time, and ends. Pure: events in, actions out.
//
// The marker (protocol.md 5.6) holds "0" while something can be claimed, "1" with the time of the
// next timer, "2" with the time at which a closed gate of the queue opens, and "3" with that of the
// next tick of a scheduler. An idle worker blocks on it. Whoever pops "0" claims (the claim puts it
// back while work remains, which wakes the next one); whoever pops another one waits for that time
// itself. While claims come back full and leave the queue open the worker does not block at all: a
// freed slot claims at once.
//
// After each event call next() until it answers `none`, and do what it says.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <utility>

namespace echomq::inline v2 {

// A time that a worker keeps for all, in milliseconds since 1970, and whether what is to be done
// then is on its way. A mark with the next time may be popped before the answer that set it is
// there, so what is kept meanwhile counts afterwards.
class KeptTime {
 public:
  // The earlier one counts.
  void keep(std::int64_t ms) {
    auto& at = acting_ ? later_ms_ : ms_;
    at = at == 0 ? ms : std::min(at, ms);
  }
  // It has come: it is acted on from now until done() or failed().
  bool comes(std::int64_t now_ms) {
    if (acting_ || ms_ == 0 || now_ms < ms_) return false;
    acting_ = true;
    return true;
  }
  void done(bool more_due) { settle(more_due ? ms_ : 0); }
  void failed(std::int64_t again_ms) { settle(again_ms); }
  // When it comes; 0: it is not kept, or acted on.
  [[nodiscard]] std::int64_t alarm_ms() const { return acting_ ? 0 : ms_; }
  // Gives it up; 0: there is none.
  std::int64_t give_up() {
    if (later_ms_ != 0 && (ms_ == 0 || later_ms_ < ms_)) ms_ = later_ms_;
    later_ms_ = 0;
    return std::exchange(ms_, 0);
  }

 private:
  void settle(std::int64_t ms) {
    acting_ = false;
    ms_ = ms;
    if (const auto later = std::exchange(later_ms_, 0); later != 0) keep(later);
  }

  std::int64_t ms_ = 0;
  std::int64_t later_ms_ = 0;  // that came while it was acted on
  bool acting_ = false;
};

class Lifecycle {
 public:
  // A claim asks for no more: what it brings is loaded and ended in one go, and while the server is
  // about that this process makes the next.
  static constexpr unsigned kMostAtOnce = 128;

  struct Action {
    enum class Kind {
      none,
      claim,      // ask for up to `count` jobs
      block,      // wait on the marker
      promote,    // a timer is due: make delayed jobs ready
      fire,       // a tick is due: make the jobs of schedulers
      put_wake,   // put "0" back: it was popped, and there is no free slot for it
      put_timer,  // put "1" back at `due_ms`: this worker ends
      put_gate,   // this worker ends, and others must keep the time at which the gate opens
      put_tick,   // put "3" back at `due_ms`: this worker ends
      drained,    // nothing waits, is delayed or active: a worker that stops when empty is done
    };
    Kind kind = Kind::none;
    unsigned count = 0;
    std::int64_t due_ms = 0;
  };

  Lifecycle(unsigned concurrency, bool stop_when_empty)
      : concurrency_(concurrency), stop_when_empty_(stop_when_empty) {}

  Action next(std::int64_t now_ms) {
    if (stopping_) return last_words();
    if (paused_) return hand_over();
    if (drained_) return {Action::Kind::drained, 0, 0};
    open_gate(now_ms);
    if (timer_.comes(now_ms)) return {Action::Kind::promote, 0, 0};
    if (tick_.comes(now_ms)) return {Action::Kind::fire, 0, 0};
    if (wake_owed_ && free() == 0) {
      wake_owed_ = false;
      return {Action::Kind::put_wake, 0, 0};
    }
    if (!connected_ || claiming_ || free() == 0) return {};
    if (hot_) {
      claiming_ = true;
      wake_owed_ = false;
      return {Action::Kind::claim, std::min(free(), kMostAtOnce), 0};
    }
    if (!blocking_) {
      blocking_ = true;
      return {Action::Kind::block, 0, 0};
    }
    return {};
  }

  // --- events
  void connected() {
    connected_ = true;
    hot_ = true;
  }
  void disconnected() { connected_ = false; }

  // A claim came back with `taken` of `asked` jobs. `ready` jobs were left for others; `due_ms` is
  // the next delayed job's time, and `anyone_active` tells of leases, where known (a claim that
  // came back short). A queue that is not `open` gives nothing more, however much is ready: it is
  // paused, held, or at a limit, which opens by itself at `opens_ms` (0: at no time).
  void claimed(unsigned asked, unsigned taken, std::int64_t ready, std::int64_t due_ms,
               bool anyone_active, std::int64_t now_ms, bool open = true,
               std::int64_t opens_ms = 0) {
    claiming_ = false;
    taken_ += taken;
    hot_ = std::exchange(again_, false) || (open && (asked == taken || ready > 0));
    if (due_ms != 0 && due_ms <= now_ms) timer_.keep(due_ms);
    // The claim came a moment too early by its own clock, and the time is marked once only.
    if (std::exchange(opened_ms_, 0) == opens_ms && opens_ms != 0) gates_.insert(opens_ms);
    if (stop_when_empty_ && taken == 0 && ready == 0 && due_ms == 0 && !anyone_active && !busy())
      drained_ = true;
  }
  void claim_failed() {
    claiming_ = false;
    hot_ = false;
    again_ = false;  // who was told of the failure looks again
  }

  void woken() {  // popped "0"
    blocking_ = false;
    wake_owed_ = true;
    look_again();
  }
  void became_timekeeper(std::int64_t due_ms) {  // popped "1"
    blocking_ = false;
    timer_.keep(due_ms);
  }
  void became_gatekeeper(std::int64_t opens_ms) {  // popped "2"
    blocking_ = false;
    gates_.insert(opens_ms);
  }
  void became_tickkeeper(std::int64_t due_ms) {  // popped "3"
    blocking_ = false;
    tick_due(due_ms);
  }
  void block_timed_out() {  // nothing popped: look all the same, in case a wake was lost
    blocking_ = false;
    hot_ = true;
  }
  void block_failed() { blocking_ = false; }
  // Something may have changed. A claim that is on its way may have been too early to see it.
  void look_again() {
    hot_ = true;
    again_ = claiming_;
    drained_ = false;
  }

  // A promotion is through. The timer of the next delayed job stands in the marker.
  void promoted(bool more_due) { timer_.done(more_due); }
  void promotion_failed(std::int64_t again_ms) { timer_.failed(again_ms); }

  // A tick of a scheduler comes then, or is due already.
  void tick_due(std::int64_t due_ms) { tick_.keep(due_ms); }
  // What was due is fired. The time of the next tick stands in the marker.
  void fired(bool more_due) { tick_.done(more_due); }
  void firing_failed(std::int64_t again_ms) { tick_.failed(again_ms); }

  void slot_freed() { --taken_; }
  // More slots can be used at once. Of fewer, those that are taken stay so until they are freed,
  // and what comes with a claim that is on its way may be more than fits.
  void set_concurrency(unsigned concurrency) { concurrency_ = concurrency; }
  // A paused worker claims nothing and keeps no time: other workers do.
  void pause(bool pause) {
    paused_ = pause;
    if (!pause) look_again();
  }
  void stop() { stopping_ = true; }

  // When next() should be asked again without an event; 0: no timer.
  [[nodiscard]] std::int64_t timer_ms() const {
    std::int64_t earliest = 0;
    for (const auto time :
         {timer_.alarm_ms(), tick_.alarm_ms(), gates_.empty() ? 0 : *gates_.begin()})
      if (time != 0 && (earliest == 0 || time < earliest)) earliest = time;
    return earliest;
  }
  [[nodiscard]] bool claiming() const { return claiming_; }
  [[nodiscard]] bool blocking() const { return blocking_; }
  [[nodiscard]] bool busy() const { return taken_ > 0; }

 private:
  // What this worker took from the marker and others need goes back, once each. What a block that
  // is still on its way may have popped is unknown to a worker that ends.
  Action last_words() {
    wake_owed_ = wake_owed_ || blocking_;
    blocking_ = false;
    return hand_over();
  }

  Action hand_over() {
    if (std::exchange(wake_owed_, false)) return {Action::Kind::put_wake, 0, 0};
    if (const auto due_ms = timer_.give_up(); due_ms != 0)
      return {Action::Kind::put_timer, 0, due_ms};
    if (!std::exchange(gates_, {}).empty()) return {Action::Kind::put_gate, 0, 0};
    if (const auto due_ms = tick_.give_up(); due_ms != 0)
      return {Action::Kind::put_tick, 0, due_ms};
    return {};
  }

  // As if "0" had been popped: where no slot is free the wake goes to another worker.
  void open_gate(std::int64_t now_ms) {
    if (gates_.empty() || now_ms < *gates_.begin()) return;
    opened_ms_ = *gates_.begin();
    gates_.erase(gates_.begin());
    wake_owed_ = true;
    look_again();
  }

  [[nodiscard]] unsigned free() const { return taken_ < concurrency_ ? concurrency_ - taken_ : 0; }

  unsigned taken_ = 0;  // slots; more than the concurrency after that was lowered
  unsigned concurrency_;
  bool stop_when_empty_;
  bool connected_ = false;
  bool hot_ = false;       // a claim may find something
  bool again_ = false;     // said while a claim was on its way
  bool claiming_ = false;  // a claim is on its way
  bool blocking_ = false;
  bool wake_owed_ = false;  // "0" was popped and no claim has answered for it
  bool paused_ = false;
  bool stopping_ = false;
  bool drained_ = false;
  KeptTime timer_;  // of the next delayed job
  KeptTime tick_;   // of the next tick of a scheduler
  // When gates open that this worker keeps the time of. Mostly one: a limit that is changed leaves
  // another, which costs a claim.
  std::set<std::int64_t> gates_;
  std::int64_t opened_ms_ = 0;  // the last of them that came; 0: a claim has answered for it
};

}  // namespace echomq::inline v2
