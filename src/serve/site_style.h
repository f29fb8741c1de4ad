// How the page at / looks, where it differs from the report. Its text is sent within the page: it
// needs no further request.
#pragma once

#include <string_view>

namespace tracedb {

inline constexpr std::string_view kSiteStyle = R"css(
h2 { margin: 2.5rem 0 .5rem; }
h3 small { margin-left: .5rem; color: var(--soft); font: .85rem ui-monospace, monospace; }
pre { margin: .2rem 0 .6rem; padding: .5rem .7rem; user-select: all; background: var(--back);
  border: 1px solid var(--line); border-radius: 4px; }
h3.about { margin: 1.2rem 0 .3rem; }
details.query { margin: .1rem 0; }
details.query > summary { padding: .15rem 0; cursor: pointer; }
details.query > summary small { margin-left: .5rem; color: var(--soft);
  font: .85rem ui-monospace, monospace; }
.rows { float: right; color: var(--soft); font-size: .85rem; }
pre.chart { overflow-x: auto; white-space: pre; line-height: 1.2; }
textarea { flex: 1 1 100%; padding: .4rem .6rem; color: inherit;
  font: .9rem ui-monospace, monospace; background: var(--back); border: 1px solid var(--line);
  border-radius: 4px; }
dl { margin: .3rem 0; }
dt { font: .85rem ui-monospace, monospace; }
dd { margin: 0 0 .2rem 1.5rem; color: var(--soft); }
form { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; margin: .6rem 0; }
label { color: var(--soft); font-size: .85rem; }
input { display: block; width: 10rem; padding: .25rem .4rem; color: inherit; font: inherit;
  background: var(--back); border: 1px solid var(--line); border-radius: 4px; }
button { padding: .3rem .8rem; color: var(--link); font: inherit; cursor: pointer;
  background: none; border: 1px solid var(--link); border-radius: 4px; }
.scroll { max-height: none; }
th { color: var(--soft); font-weight: 600; }
th.n { text-align: right; }
td.wide { max-width: none; white-space: normal; }
.soft { color: var(--soft); }
.warn { color: var(--warn); }
)css";

}  // namespace tracedb
