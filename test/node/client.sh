#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tests of the node client (clients/node), by node's own runner. `./run test` has installed its packages and
# built it; where that could not be done the test is skipped (77). Usage: client.sh TREE.
set -euo pipefail
cd "$1/clients/node"
if ! command -v node >/dev/null || [[ ! -e dist/index.js ]]; then
  echo "clients/node is not built: npm ci --ignore-scripts && npm run build"
  exit 77
fi
if [[ -n $(find src tool ../../lua -newer dist/index.mjs \( -name '*.ts' -o -name '*.mjs' -o -name '*.lua' \) ! -path '*/generated/*' -print -quit) ]]; then
  echo "clients/node/dist is older than its sources: npm run build" >&2
  exit 1
fi
node --test test/*.test.mjs
