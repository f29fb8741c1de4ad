// One computation for all who ask the same at the same time. Who comes first makes the answer; the
// others wait for it, and hold nothing meanwhile but their connections.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "serve/http/web_message.h"

namespace tracedb {

class SharedAnswers {
 public:
  enum class For {
    kAll,     // everybody who waits for it gets it
    kOne,     // the others make their own, all at once: it is a stream, or something failed
    kNobody,  // its client has gone: the next one makes it
  };
  struct Made {
    WebAnswer answer;
    For whom = For::kOne;
  };

  // The answer that `make` makes, or that another thread made for this key meanwhile. Nothing:
  // `give_up`, which a waiting thread asks several times a second, said so. An exception in `make`
  // goes to its caller alone.
  std::optional<WebAnswer> Get(const std::string& key, const std::function<bool()>& give_up,
                               const std::function<Made()>& make);

 private:
  enum class State { kMaking, kFree, kMade, kFailed };
  struct Shared {
    State state = State::kMaking;
    int asking = 0;
    std::shared_ptr<const WebAnswer> answer;
    std::condition_variable changed;
  };
  class Asking;

  WebAnswer MakeFor(Shared& shared, const std::function<Made()>& make);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Shared>> shared_;  // those that are being made
};

}  // namespace tracedb
