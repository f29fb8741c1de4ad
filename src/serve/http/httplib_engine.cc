#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "serve/http/connection_threads.h"
#include "serve/http/http_engine.h"
#include "serve/http/socket_stream.h"
#include "tracedb/base/own_module.h"

namespace tracedb {
namespace {

constexpr int kBacklog = 1024;
constexpr int kRequestsEach = 10'000;  // on one connection
constexpr std::chrono::seconds kIdleTime(15);
constexpr time_t kIdleMicroseconds = 200'000;  // of the accepting thread

// The last answer of a connection, made without httplib.
std::string LastAnswer(std::string_view status, std::string_view reason, std::string_view header) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "X-Content-Type-Options: nosniff\r\n{}Connection: close\r\n\r\n{}\n",
      status, reason.size() + 1, header, reason);
}

// Answered without reading what is asked.
std::string RefusalText() {
  return LastAnswer("503 Service Unavailable", "too many connections (--max-connections)",
                    "Retry-After: 5\r\n");
}

std::string FaultText(const RequestHead::Fault& fault) {
  const std::string_view status = fault.status == 414   ? "414 URI Too Long"
                                  : fault.status == 431 ? "431 Request Header Fields Too Large"
                                                        : "400 Bad Request";
  return LastAnswer(status, fault.reason, "Cache-Control: no-store\r\n");
}

// The connection whose request this thread answers.
thread_local SocketStream* stream_here = nullptr;
class StreamHere {
 public:
  explicit StreamHere(SocketStream& stream) { stream_here = &stream; }
  ~StreamHere() { stream_here = nullptr; }
  StreamHere(const StreamHere&) = delete;
  StreamHere& operator=(const StreamHere&) = delete;
};

WebRequest RequestOf(const httplib::Request& from) {
  const RequestHead& head = stream_here->head();
  WebRequest request;
  request.method = from.method;
  request.path = from.path;
  for (const auto& [name, value] : from.params) request.params.emplace_back(name, value);
  request.hosts = head.hosts();
  request.client = stream_here->Address();
  request.authorization = head.authorization();
  request.if_none_match = head.if_none_match();
  request.accept_encoding = head.accept_encoding();
  request.is_gone = [stream = stream_here] { return stream->IsGone(); };
  return request;
}

void GiveAnswer(WebAnswer answer, bool is_http_1_0, httplib::Response& to) {
  to.status = answer.status;
  for (const auto& [name, value] : answer.headers) to.set_header(name, value);
  if (!answer.stream) {
    if (answer.status != 304) to.set_content(answer.body, answer.media_type);
    return;
  }
  stream_here->GiveUpIf(std::move(answer.give_up));
  const auto provide = [stream = std::move(answer.stream), connection = stream_here](
                           size_t, httplib::DataSink& sink) {
    const bool whole =
        stream([&](std::string_view bytes) { return sink.write(bytes.data(), bytes.size()); });
    if (whole) {
      sink.done();
    } else {
      connection->BreakOff();
    }
    return whole;
  };
  if (is_http_1_0) {
    to.set_content_provider(answer.media_type, provide);
  } else {
    to.set_chunked_content_provider(answer.media_type, provide);
  }
}

class HttplibEngine : public HttpEngine, private httplib::Server {
 public:
  HttplibEngine(int connections_max, HttpHandler handler) : handler_(std::move(handler)) {
    new_task_queue = [this, connections_max] {
      return std::make_unique<ConnectionThreads>(connections_max, [this] { refused_.CloseDue(); })
          .release();
    };
    set_keep_alive_timeout(kIdleTime.count());  // what clients are told
    set_keep_alive_max_count(kRequestsEach);
    set_idle_interval(0, kIdleMicroseconds);
    // Not SO_REUSEPORT, with which a second server would get every other connection.
    set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    });
    set_default_headers({{"X-Content-Type-Options", "nosniff"},
                         {"Referrer-Policy", "no-referrer"},
                         {"Accept-Ranges", "none"},
                         {"Cross-Origin-Resource-Policy", "same-origin"}});
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      GiveAnswer(handler_(RequestOf(request)), request.version == "HTTP/1.0", response);
      return HandlerResponse::Handled;
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty() || response.content_provider_) return;
      response.set_content("this is no request that can be understood\n",
                           "text/plain; charset=utf-8");
    });
    set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
          response.status = 503;
          response.set_header("Retry-After", "5");
          response.set_content("out of memory\n", "text/plain; charset=utf-8");
        });
  }

  ~HttplibEngine() override { HttplibEngine::Stop(); }
  HttplibEngine(const HttplibEngine&) = delete;
  HttplibEngine& operator=(const HttplibEngine&) = delete;

  Result<int> Bind(const std::string& host, int port) override {
    errno = 0;
    const int bound = port != 0 ? (bind_to_port(host, port) ? port : -1) : bind_to_any_port(host);
    // httplib keeps 5 connections waiting, so that clients who come together try again after 1 s.
    if (bound > 0 && ::listen(svr_sock_, kBacklog) == 0) return bound;
    const std::string why =
        errno == 0 ? "there is no such address" : std::generic_category().message(errno);
    return Error{ErrorKind::kInput, fmt::format("{}:{}: cannot listen there: {}", host, port, why),
                 "choose another port with --port; 0 takes any that is free"};
  }

  void Start() override {
    accepting_ = std::thread([this] { listen_after_bind(); });
    while (!is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void Stop() override {
    if (!accepting_.joinable()) return;
    stop();
    sockets_.ShutDownAll();
    accepting_.join();
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    if (IsRefusedHere()) {
      refused_.Refuse(socket, RefusalText());
      return false;
    }
    sockets_.Add(socket);
    const bool done = ServeConnection(socket);
    sockets_.Close(socket);
    return done;
  }

  bool ServeConnection(int socket) {
    SocketStream stream(socket);
    const StreamHere here(stream);
    for (int left = kRequestsEach; left > 0 && stream.AwaitRequest(kIdleTime); --left) {
      const RequestHead& head = stream.head();
      if (const auto& fault = head.fault(); fault.has_value()) {
        const std::string text = FaultText(*fault);
        // To HEAD only the head of the answer.
        const size_t sent = head.method() == "HEAD" ? text.find("\r\n\r\n") + 4 : text.size();
        if (stream.write(text.data(), sent) < 0) return false;
      } else {
        bool is_closed = false;
        const bool done = process_request(stream, left == 1, is_closed, {});
        stream.GiveUpIf({});
        if (!done) return false;
        if (!head.is_last() && !is_closed) continue;
      }
      stream.ReadRest();
      break;
    }
    return true;
  }

  const HttpHandler handler_;
  OpenSockets sockets_;
  RefusedSockets refused_;  // of the accepting thread
  std::thread accepting_;
};

}  // namespace
}  // namespace tracedb

#ifdef TRACEDB_MODULES
const char* const tracedb_module_version = TRACEDB_VERSION;
#endif

tracedb::HttpEngine* tracedb_http_engine(int connections_max, tracedb::HttpHandler* handler) {
  return std::make_unique<tracedb::HttplibEngine>(connections_max, std::move(*handler)).release();
}
