#include "serve/shared_answers.h"

#include <chrono>
#include <utility>

namespace tracedb {
namespace {

constexpr std::chrono::milliseconds kAskEach(100);

}  // namespace

// A thread that is in Get for a key. Who comes when the answer is made, or all have gone, begins
// anew.
class SharedAnswers::Asking {
 public:
  Asking(SharedAnswers& all, const std::string& key) : all_(all), key_(key) {
    std::lock_guard lock(all_.mutex_);
    std::shared_ptr<Shared>& place = all_.shared_[key_];
    is_maker_ = place == nullptr;
    if (is_maker_) place = std::make_shared<Shared>();
    shared_ = place;
    ++shared_->asking;
  }
  ~Asking() {
    std::lock_guard lock(all_.mutex_);
    const bool is_over = shared_->state == State::kMade || shared_->state == State::kFailed;
    if (--shared_->asking > 0 && !is_over) return;
    const auto place = all_.shared_.find(key_);
    if (place != all_.shared_.end() && place->second == shared_) all_.shared_.erase(place);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  Shared& shared() { return *shared_; }
  bool is_maker() const { return is_maker_; }

 private:
  SharedAnswers& all_;
  const std::string& key_;
  std::shared_ptr<Shared> shared_;
  bool is_maker_ = false;
};

WebAnswer SharedAnswers::MakeFor(Shared& shared, const std::function<Made()>& make) {
  const auto end = [&](State state, std::shared_ptr<const WebAnswer> answer) {
    std::lock_guard lock(mutex_);
    shared.state = state;
    shared.answer = std::move(answer);
    shared.changed.notify_all();
  };
  try {
    Made made = make();
    if (made.whom == For::kAll) {
      end(State::kMade, std::make_shared<const WebAnswer>(made.answer));
    } else {
      end(made.whom == For::kNobody ? State::kFree : State::kFailed, nullptr);
    }
    return std::move(made.answer);
  } catch (...) {
    end(State::kFailed, nullptr);
    throw;
  }
}

std::optional<WebAnswer> SharedAnswers::Get(const std::string& key,
                                            const std::function<bool()>& give_up,
                                            const std::function<Made()>& make) {
  Asking asking(*this, key);
  Shared& shared = asking.shared();
  if (asking.is_maker()) return MakeFor(shared, make);
  {
    std::unique_lock lock(mutex_);
    while (shared.state == State::kMaking) {
      if (give_up()) return std::nullopt;
      shared.changed.wait_for(lock, kAskEach);
    }
    if (shared.state == State::kFree) {
      shared.state = State::kMaking;
      lock.unlock();
      return MakeFor(shared, make);
    }
    if (shared.answer != nullptr) {
      const std::shared_ptr<const WebAnswer> answer = shared.answer;
      lock.unlock();
      return *answer;
    }
  }
  return make().answer;
}

}  // namespace tracedb
