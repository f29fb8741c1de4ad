// What libstdc++ has from GCC 4.9 and 11 on, for the extension alone: a program that loads it from
// a wheel or an archive may have an older one (src/packages/DECISION-static-program.md). Declared
// in <bits/functexcept.h>; exported.map keeps them to ourselves.
#include <new>
#include <string>

namespace std {

void __throw_bad_array_new_length() { __throw_bad_alloc(); }

void __throw_out_of_range_fmt(const char* what, ...) { __throw_out_of_range(what); }

}  // namespace std
