// What the like of something takes on its peers: the mean, or the median.
#pragma once

#include <cstdint>
#include <vector>

namespace tracedb {

// To the nearest ns, halves up; of none 0. Times are not negative.
int64_t MeanNs(const std::vector<int64_t>& times_ns);
// Of an even number the middle between the two in the middle, rounded down; of none 0.
int64_t MedianNs(std::vector<int64_t> times_ns);
// Of an even number the lower of the two in the middle; of none 0.
int64_t LowerMedianNs(std::vector<int64_t> times_ns);

__extension__ using Wide = __int128;
// ns times part over whole, rounded down; none of them is negative, and part no more than whole.
int64_t ShareNs(int64_t ns, Wide part, Wide whole);

}  // namespace tracedb
