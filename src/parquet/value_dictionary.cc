#include "parquet/value_dictionary.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "parquet/value_bytes.h"

namespace tracedb {
namespace {

constexpr size_t kTextsMax = 65536;  // a row group's rows: numbers of two bytes

// Open addressing over the texts of one row group: a power of two of places, half of them empty.
class TextNumbers {
 public:
  explicit TextNumbers(size_t values) : places_(PlacesFor(values), kNone) {}

  // The text's number; a new text is the next one.
  uint32_t Of(std::string_view text) {
    const size_t hash = std::hash<std::string_view>{}(text);
    for (size_t at = hash & (places_.size() - 1);; at = (at + 1) & (places_.size() - 1)) {
      const uint32_t number = places_[at];
      if (number == kNone) {
        places_[at] = static_cast<uint32_t>(texts_.size());
        texts_.push_back(text);
        return places_[at];
      }
      if (texts_[number] == text) return number;
    }
  }
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static size_t PlacesFor(size_t values) {
    size_t places = 16;
    while (places < 2 * values) places *= 2;
    return places;
  }
  std::vector<uint32_t> places_;
  std::vector<std::string_view> texts_;
};

// Of each number: 1, 2, 4, 8 or 16, so that zstd sees whole bytes again where numbers repeat.
unsigned WidthFor(size_t texts) {
  unsigned width = 1;
  while (width < 16 && texts > size_t{1} << width) width *= 2;
  return width;
}

}  // namespace

std::optional<ValueDictionary> MakeDictionary(const ParquetValues& values) {
  const auto there =
      static_cast<size_t>(std::count(values.is_there.begin(), values.is_there.end(), uint8_t{1}));
  if (there == 0 || there > kTextsMax) return std::nullopt;
  TextNumbers numbers(there);
  ValueDictionary dictionary;
  dictionary.numbers.reserve(there);
  std::string_view before;
  uint32_t number = 0;
  for (size_t row = 0; row < values.rows(); ++row) {
    if (values.is_there[row] == 0) continue;
    const std::string_view text = values.Text(row);
    if (dictionary.numbers.empty() || text != before) number = numbers.Of(text);
    before = text;
    dictionary.numbers.push_back(number);
    // Not worth it: seen early where every text is another.
    if (numbers.texts().size() > 64 + there / 2) return std::nullopt;
  }
  dictionary.texts = numbers.texts().size();
  for (const std::string_view text : numbers.texts()) {
    PutFixed(dictionary.page, static_cast<uint32_t>(text.size()));
    dictionary.page += text;
  }
  return dictionary;
}

std::string EncodeNumbers(const ValueDictionary& dictionary) {
  const unsigned width = WidthFor(dictionary.texts);
  std::string bytes(1, static_cast<char>(width));
  if (dictionary.texts == 1) {  // one run of the same
    PutVarint(bytes, uint64_t{dictionary.numbers.size()} << 1);
    bytes += '\0';
    return bytes;
  }
  const size_t groups = (dictionary.numbers.size() + 7) / 8;
  PutVarint(bytes, uint64_t{groups} << 1 | 1);
  const size_t start = bytes.size();
  bytes.resize(start + groups * width);
  size_t bit = 0;
  for (const uint32_t number : dictionary.numbers) {
    char& byte = bytes[start + bit / 8];
    byte = static_cast<char>(static_cast<uint8_t>(byte) | (number & 0xff) << (bit % 8));
    if (width == 16) bytes[start + bit / 8 + 1] = static_cast<char>(number >> 8);
    bit += width;
  }
  return bytes;
}

std::optional<std::vector<uint32_t>> DecodeNumbers(std::string_view bytes, size_t count,
                                                   size_t texts) {
  PageBytes page{bytes};
  const auto width = page.Fixed<uint8_t>();
  const uint64_t head = page.Varint();
  if (!page.ok || texts == 0 || texts > kTextsMax || width != WidthFor(texts)) return std::nullopt;
  if ((head & 1) == 0) {
    const bool fits = head >> 1 == count && page.Fixed<uint8_t>() == 0 && page.rest.empty();
    return fits ? std::optional(std::vector<uint32_t>(count, 0)) : std::nullopt;
  }
  const size_t groups = (count + 7) / 8;
  if (head >> 1 != groups || page.rest.size() != groups * width) return std::nullopt;
  std::vector<uint32_t> numbers;
  numbers.reserve(count);
  for (size_t i = 0, bit = 0; i < count; ++i, bit += width) {
    uint32_t number = static_cast<uint8_t>(page.rest[bit / 8]);
    if (width == 16) number |= uint32_t{static_cast<uint8_t>(page.rest[bit / 8 + 1])} << 8;
    if (width < 8) number = number >> (bit % 8) & ((1u << width) - 1);
    if (number >= texts) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<std::vector<std::string_view>> DecodeDictionary(std::string_view bytes,
                                                              size_t texts) {
  PageBytes page{bytes};
  std::vector<std::string_view> found;
  if (texts > kTextsMax) return std::nullopt;
  found.reserve(texts);
  for (size_t i = 0; page.ok && i < texts; ++i) found.push_back(page.Take(page.Fixed<uint32_t>()));
  const bool fits = page.ok && page.rest.empty();
  return fits ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace tracedb
