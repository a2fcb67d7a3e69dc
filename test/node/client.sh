#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tests of the node client (clients/node), by node's own runner. `./run test` has installed its packages and
# built it; where that could not be done the test is skipped (77). Usage: client.sh TREE [OLDEST], the program of the
# oldest node that the client's package.json names, to run them by that one.
set -euo pipefail
cd "$1/clients/node"
node=${2:-node}
if ! command -v "$node" >/dev/null; then
  echo "there is no $node here"
  exit 77
fi
if [[ ! -e dist/index.js ]]; then
  echo "clients/node is not built: npm ci --ignore-scripts && npm run build"
  exit 77
fi
if [[ -n $(find src tool ../../lua -newer dist/index.mjs \( -name '*.ts' -o -name '*.mjs' -o -name '*.lua' \) ! -path '*/generated/*' -print -quit) ]]; then
  echo "clients/node/dist is older than its sources: npm run build" >&2
  exit 1
fi
oldest=$(sed -n 's/.*"engines".*>=\([0-9.]*\)".*/\1/p' package.json)
if (($# > 1)) && [[ $("$node" --version) != v$oldest.* ]]; then
  echo "$node is $("$node" --version), and package.json names $oldest as the oldest" >&2
  exit 1
fi
"$node" --test test/*.test.mjs
