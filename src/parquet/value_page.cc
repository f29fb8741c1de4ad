#include "parquet/value_page.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "parquet/value_bytes.h"

namespace tracedb {
namespace {

static_assert(std::endian::native == std::endian::little, "as values are in the file");

constexpr size_t kBlockValues = 128;  // of DELTA_BINARY_PACKED
constexpr size_t kMiniblocks = 4;
constexpr size_t kMiniblockValues = kBlockValues / kMiniblocks;
constexpr size_t kTextBytesOfPageMax = size_t{64} << 20;

// One run: all the same, or all of them as bits.
std::string EncodeLevels(const std::vector<uint8_t>& is_there) {
  std::string run;
  const bool same =
      std::adjacent_find(is_there.begin(), is_there.end(), std::not_equal_to<>()) == is_there.end();
  if (same) {
    PutVarint(run, uint64_t{is_there.size()} << 1);
    run += is_there.empty() ? '\0' : static_cast<char>(is_there.front());
  } else {
    const size_t groups = (is_there.size() + 7) / 8;
    PutVarint(run, uint64_t{groups} << 1 | 1);
    std::string bits(groups, '\0');
    for (size_t i = 0; i < is_there.size(); ++i) {
      bits[i / 8] = static_cast<char>(bits[i / 8] | is_there[i] << (i % 8));
    }
    run += bits;
  }
  std::string levels;
  PutFixed(levels, static_cast<uint32_t>(run.size()));
  return levels + run;
}

bool DecodeLevels(PageBytes& page, size_t rows, std::vector<uint8_t>& is_there) {
  PageBytes levels{page.Take(page.Fixed<uint32_t>())};
  const uint64_t head = levels.Varint();
  is_there.assign(rows, 0);
  if ((head & 1) == 0) {
    const auto level = levels.Fixed<uint8_t>();
    if (!levels.ok || head >> 1 != rows || level > 1) return false;
    std::fill(is_there.begin(), is_there.end(), level);
  } else {
    const std::string_view bits = levels.Take((rows + 7) / 8);
    if (!levels.ok || head >> 1 != (rows + 7) / 8) return false;
    for (size_t i = 0; i < rows; ++i) {
      is_there[i] = static_cast<uint8_t>(bits[i / 8]) >> (i % 8) & 1;
    }
  }
  return page.ok && levels.rest.empty();
}

// A miniblock's values, each in `width` bits.
void PackBits(std::string& out, const uint64_t* values, unsigned width) {
  std::string bytes(kMiniblockValues * width / 8, '\0');
  size_t bit = 0;
  for (size_t i = 0; i < kMiniblockValues; ++i) {
    for (unsigned done = 0; done < width;) {
      const unsigned in_byte = bit % 8;
      const unsigned take = std::min(8 - in_byte, width - done);
      const auto piece = static_cast<uint8_t>(values[i] >> done & ((1u << take) - 1));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] | piece << in_byte);
      bit += take;
      done += take;
    }
  }
  out += bytes;
}

uint64_t UnpackBits(std::string_view bytes, size_t number, unsigned width) {
  uint64_t value = 0;
  size_t bit = number * width;
  for (unsigned done = 0; done < width;) {
    const unsigned in_byte = bit % 8;
    const unsigned take = std::min(8 - in_byte, width - done);
    const uint64_t piece = static_cast<uint8_t>(bytes[bit / 8]) >> in_byte & ((1u << take) - 1);
    value |= piece << done;
    bit += take;
    done += take;
  }
  return value;
}

// Differences wrap, as those of any two values of 64 bits must.
void EncodeDeltas(std::string& out, const std::vector<int64_t>& values) {
  PutVarint(out, kBlockValues);
  PutVarint(out, kMiniblocks);
  PutVarint(out, values.size());
  PutVarint(out, ZigZag(values.empty() ? 0 : values.front()));
  for (size_t at = 1; at < values.size(); at += kBlockValues) {
    const size_t count = std::min(kBlockValues, values.size() - at);
    uint64_t deltas[kBlockValues];
    int64_t least = 0;
    for (size_t i = 0; i < count; ++i) {
      deltas[i] = static_cast<uint64_t>(values[at + i]) - static_cast<uint64_t>(values[at + i - 1]);
      least = i == 0 ? static_cast<int64_t>(deltas[i])
                     : std::min(least, static_cast<int64_t>(deltas[i]));
    }
    for (size_t i = 0; i < count; ++i) deltas[i] -= static_cast<uint64_t>(least);
    std::fill(deltas + count, deltas + kBlockValues, 0);
    PutVarint(out, ZigZag(least));
    unsigned widths[kMiniblocks];
    for (size_t mini = 0; mini < kMiniblocks; ++mini) {
      const uint64_t* first = deltas + mini * kMiniblockValues;
      const uint64_t most = *std::max_element(first, first + kMiniblockValues);
      widths[mini] = static_cast<unsigned>(std::bit_width(most));
      out += static_cast<char>(widths[mini]);
    }
    // Miniblocks after the last value are left out.
    for (size_t mini = 0; mini * kMiniblockValues < count; ++mini) {
      PackBits(out, deltas + mini * kMiniblockValues, widths[mini]);
    }
  }
}

bool DecodeDeltas(PageBytes& page, size_t count, std::vector<int64_t>& values) {
  const bool fits = page.Varint() == kBlockValues && page.Varint() == kMiniblocks &&
                    page.Varint() == count && page.ok;
  const int64_t first = page.ZigZagVarint();
  if (!fits || !page.ok) return false;
  if (count == 0) return page.rest.empty();
  values.reserve(count);
  values.push_back(first);
  while (values.size() < count) {
    const auto least = static_cast<uint64_t>(page.ZigZagVarint());
    const std::string_view widths = page.Take(kMiniblocks);
    for (size_t mini = 0; page.ok && mini < kMiniblocks && values.size() < count; ++mini) {
      const auto width = static_cast<uint8_t>(widths[mini]);
      if (width > 64) return false;
      const std::string_view bits = page.Take(kMiniblockValues * width / 8);
      for (size_t i = 0; page.ok && i < kMiniblockValues && values.size() < count; ++i) {
        values.push_back(static_cast<int64_t>(static_cast<uint64_t>(values.back()) + least +
                                              UnpackBits(bits, i, width)));
      }
    }
    if (!page.ok) return false;
  }
  return page.rest.empty();
}

bool DecodeTexts(PageBytes& page, ParquetValues& values) {
  values.bytes.reserve(page.rest.size());
  for (const uint8_t there : values.is_there) {
    if (there != 0) values.bytes.append(page.Take(page.Fixed<uint32_t>()));
    if (!page.ok) return false;
    values.text_end.push_back(values.bytes.size());
  }
  return page.rest.empty();
}

// A dictionary of long texts makes many bytes of few: they are bounded as a page's are.
bool DecodeByDictionary(const PageBytes& page, size_t count,
                        std::span<const std::string_view> dictionary, ParquetValues& values) {
  const auto numbers = DecodeNumbers(page.rest, count, dictionary.size());
  if (!numbers.has_value()) return false;
  auto next = numbers->begin();
  for (const uint8_t there : values.is_there) {
    if (there != 0) values.bytes.append(dictionary[*next++]);
    if (values.bytes.size() > kTextBytesOfPageMax) return false;
    values.text_end.push_back(values.bytes.size());
  }
  return true;
}

template <typename T>
bool DecodePlain(PageBytes& page, size_t count, std::vector<T>& values) {
  if (page.rest.size() != count * sizeof(T)) return false;
  values.resize(count);
  if (count != 0) std::memcpy(values.data(), page.rest.data(), page.rest.size());
  return true;
}

// From the values that are there to one a row.
template <typename T>
void Spread(const std::vector<uint8_t>& is_there, std::vector<T>& values) {
  size_t from = values.size();
  values.resize(is_there.size());
  for (size_t row = is_there.size(); row-- > 0;) {
    values[row] = is_there[row] != 0 ? values[--from] : T{};
  }
}

}  // namespace

std::string EncodePage(const ParquetValues& values, PageEncoding encoding) {
  std::string page = EncodeLevels(values.is_there);
  std::vector<int64_t> integers;
  for (size_t row = 0; row < values.rows(); ++row) {
    if (values.is_there[row] == 0) continue;
    switch (values.type) {
      case ParquetType::kInteger:
        integers.push_back(values.integers[row]);
        break;
      case ParquetType::kReal:
        PutFixed(page, values.reals[row]);
        break;
      case ParquetType::kText:
      case ParquetType::kBytes:
        PutFixed(page, static_cast<uint32_t>(values.Text(row).size()));
        page += values.Text(row);
        break;
    }
  }
  if (encoding == PageEncoding::kDeltaBinaryPacked) {
    EncodeDeltas(page, integers);
  } else {
    for (const int64_t value : integers) PutFixed(page, value);
  }
  return page;
}

std::string EncodePage(const ParquetValues& values, const ValueDictionary& dictionary) {
  return EncodeLevels(values.is_there) + EncodeNumbers(dictionary);
}

std::optional<ParquetValues> DecodePage(std::string_view page, ParquetType type,
                                        PageEncoding encoding, size_t rows,
                                        std::span<const std::string_view> dictionary) {
  ParquetValues values;
  values.type = type;
  PageBytes bytes{page};
  if (!DecodeLevels(bytes, rows, values.is_there)) return std::nullopt;
  const auto count =
      static_cast<size_t>(std::count(values.is_there.begin(), values.is_there.end(), uint8_t{1}));
  bool fits = false;
  if (values.is_bytes() && encoding == PageEncoding::kRleDictionary) {
    fits = DecodeByDictionary(bytes, count, dictionary, values);
  } else if (values.is_bytes()) {
    fits = encoding == PageEncoding::kPlain && DecodeTexts(bytes, values);
  } else if (type == ParquetType::kReal) {
    fits = encoding == PageEncoding::kPlain && DecodePlain(bytes, count, values.reals);
    if (fits) Spread(values.is_there, values.reals);
  } else if (encoding != PageEncoding::kRleDictionary) {
    fits = encoding == PageEncoding::kPlain ? DecodePlain(bytes, count, values.integers)
                                            : DecodeDeltas(bytes, count, values.integers);
    if (fits) Spread(values.is_there, values.integers);
  }
  return fits ? std::optional(std::move(values)) : std::nullopt;
}

}  // namespace tracedb
