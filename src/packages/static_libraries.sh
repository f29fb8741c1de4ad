#!/bin/sh
# The libraries of which Debian has no archive, for the program that needs no shared library: made of
# Debian's own source packages, in the versions whose headers are installed.
#
#     src/packages/static_libraries.sh FOLDER
#
# FOLDER/lib is where src/cmake/StaticProgram.cmake finds them. Needs dpkg-dev, nasm, g++, make and
# python3. What has been made of the same versions is kept.
set -eu
folder=$1
SOURCES="simdjson:libsimdjson-dev fmtlib:libfmt-dev libisal:libisal-dev
  cpp-httplib:libcpp-httplib-dev xxhash:libxxhash-dev"

wanted=""
for pair in $SOURCES; do
  # shellcheck disable=SC2016  # dpkg's own variable
  wanted="$wanted ${pair%:*}=$(dpkg-query -W -f '${source:Version}' "${pair#*:}")"
done
sources=$wanted
wanted="$wanted $(cksum <"$0")"
if [ "$(cat "$folder/made-of" 2>/dev/null || true)" = "$wanted" ]; then exit 0; fi

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/work/lists/partial"
folder=$(cd "$folder" && pwd)
cd "$folder/work"
# apt's own places, of their sources, in a list that is this script's alone.
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
apt-cache policy |
  sed -n "s#^ *-*[0-9]* \(http[^ ]*\) \($release[^/]*\)/main .*#deb-src \1 \2 main#p" |
  sort -u >sources.list
apt_source() {
  apt-get -qq -o Dir::Etc::sourcelist="$folder/work/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$folder/work/lists" -o APT::Sandbox::User=root "$@"
}
apt_source update
for source in $sources; do
  apt_source source --only-source "$source" >/dev/null 2>said || {
    cat said >&2
    exit 1
  }
done

compile() { # OBJECT SOURCE OPTION...
  object=$1
  shift
  g++ -O2 -fPIC -ffunction-sections -c -o "$object" "$@"
}
compile simdjson.o simdjson-*/singleheader/simdjson.cpp &
(cd cpp-httplib-*/ && python3 "$PWD/split.py" --out "$PWD/out" >/dev/null)
# Without TLS: StaticProgram.cmake compiles what includes its header again.
compile httplib.o cpp-httplib-*/out/httplib.cc -DCPPHTTPLIB_USE_POLL
wait
compile format.o fmtlib-*/src/format.cc &
compile os.o fmtlib-*/src/os.cc
wait
ar rcs "$folder/lib/libsimdjson.a" simdjson.o
ar rcs "$folder/lib/libcpp-httplib.a" httplib.o
ar rcs "$folder/lib/libfmt.a" format.o os.o
# Debian's archive has not what chooses by the processor.
for name in xxhash xxh_x86dispatch; do
  gcc -O2 -fPIC -c xxhash-*/$name.c -o $name.o
done
ar rcs "$folder/lib/libxxhash.a" xxhash.o xxh_x86dispatch.o
# Of ISA-L the part that unpacks.
make -s -j"$(nproc)" -C libisal-*/ -f Makefile.unx units="igzip crc" lib >said 2>&1 || {
  tail -20 said >&2
  exit 1
}
cp libisal-*/bin/isa-l.a "$folder/lib/libisal.a"
cd "$folder"
rm -rf work
echo "$wanted" >made-of
