// The head of a request, read byte by byte before anybody acts on it. A proxy in front of the
// server may take an unclear head for another number of requests than the server does, and so give
// one person's answer to another: what can be understood in two ways is refused, and the connection
// ends.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

class RequestHead {
 public:
  struct Fault {
    int status = 400;
    std::string_view reason;
  };

  // Takes what belongs to the head off the front of `bytes`, which come as they come. What is left
  // when is_whole() belongs to the next request.
  void Take(std::string_view& bytes);
  bool is_begun() const { return bytes_ > 0; }
  bool is_whole() const { return is_whole_; }
  // Known as early as the line that has it ends. Nothing more is taken then.
  const std::optional<Fault>& fault() const { return fault_; }

  const std::string& method() const { return method_; }
  bool is_http_1_0() const { return is_http_1_0_; }
  // Nothing may follow on this connection: the client says so, or a body that nobody reads follows.
  bool is_last() const { return is_last_; }
  const std::vector<std::string>& hosts() const { return hosts_; }
  // Empty when there is none; of several the first.
  const std::string& authorization() const { return authorization_; }
  const std::string& if_none_match() const { return if_none_match_; }
  const std::string& accept_encoding() const { return accept_encoding_; }

  // The request without its headers, but for the one that says that it is the last.
  std::string Plain() const;

 private:
  void Refuse(int status, std::string_view reason);
  void TakeByte(char c);
  void EndLine();
  void ReadRequestLine();
  void ReadHeader();
  void ReadLength(std::string_view value);
  void ReadCoding(std::string_view value);
  void ReadConnection(std::string_view value);
  void EndHead();

  std::optional<Fault> fault_;
  std::string line_;
  size_t bytes_ = 0;
  size_t headers_ = 0;
  bool is_whole_ = false;
  bool after_return_ = false;  // the last byte was a CR

  std::string method_;
  std::string target_;
  bool is_http_1_0_ = false;
  bool is_last_ = false;
  std::vector<std::string> hosts_;
  std::optional<std::string> length_;
  bool is_chunked_ = false;
  bool has_authorization_ = false;
  std::string authorization_;
  std::string if_none_match_;
  std::string accept_encoding_;
};

}  // namespace tracedb
