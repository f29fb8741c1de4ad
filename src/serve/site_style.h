// How the page looks. Its text is sent within the page: it needs no further request.
#pragma once

#include <string_view>

namespace tracedb {

inline constexpr std::string_view kSiteStyle = R"css(
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5b6b7a; --line: #d9e0e6;
  --back: #fbfcfd; --card: #ffffff; --mark: #0b6bcb; --warn: #9a5b00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e8ed; --soft: #9aa8b5; --line: #35414c;
  --back: #14191e; --card: #1b2229; --mark: #6cb2ff; --warn: #ffc266; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; color: var(--ink);
  background: var(--back); font: 15px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.2rem; }
h3 { margin: 0; font-size: 1.05rem; }
h3 small { margin-left: .5rem; color: var(--soft); font: .85rem ui-monospace, monospace; }
a { color: var(--mark); }
p { margin: .4rem 0; max-width: 60rem; }
code, pre { font: .85rem ui-monospace, monospace; }
pre { overflow-x: auto; margin: .2rem 0 .6rem; padding: .5rem .7rem; user-select: all;
  background: var(--back); border: 1px solid var(--line); border-radius: 4px; }
section { margin: 1rem 0; padding: 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
nav { margin: .8rem 0; columns: 18rem; }
nav a { display: block; }
form { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; margin: .6rem 0; }
label { color: var(--soft); font-size: .85rem; }
input { display: block; width: 10rem; padding: .25rem .4rem; color: inherit; font: inherit;
  background: var(--back); border: 1px solid var(--line); border-radius: 4px; }
button { padding: .3rem .8rem; color: var(--mark); font: inherit; cursor: pointer;
  background: none; border: 1px solid var(--mark); border-radius: 4px; }
.scroll { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .2rem .6rem; text-align: left; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
td.wide { white-space: normal; }
summary { color: var(--mark); cursor: pointer; }
.soft { color: var(--soft); }
.warn { color: var(--warn); }
)css";

}  // namespace tracedb
