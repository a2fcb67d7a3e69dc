#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libechomq.so shows echomq::v2 and nothing else, and needs nothing but OpenSSL, date-tz and the C++ runtime.
# Usage: symbols.sh LIBRARY.
set -euo pipefail
library=$1

shown=$(nm -DC --defined-only "$library" | awk '{ $1 = $2 = ""; print substr($0, 3) }')
[[ $shown == *"echomq::v2::name(echomq::v2::ErrorCode)"* ]] || {
  echo "name(ErrorCode) is not exported; is anything?" >&2
  exit 1
}
if grep -vE '^((typeinfo|typeinfo name|vtable|VTT) for )?echomq::v2::|^ECHOMQ_2' <<<"$shown"; then
  echo "the symbols above are exported and do not belong to echomq::v2" >&2
  exit 1
fi

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -vE '^(libssl|libcrypto|libdate-tz|libstdc\+\+|libgcc_s|libm|libc|libpthread|ld-linux.*)\.so' <<<"$needed"; then
  echo "the libraries above are more than OpenSSL, date-tz and the C++ runtime" >&2
  exit 1
fi
[[ $(readelf -d "$library") == *SONAME*'[libechomq.so.2]'* ]] || {
  echo "the SONAME is not libechomq.so.2" >&2
  exit 1
}
