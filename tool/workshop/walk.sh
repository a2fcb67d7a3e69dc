#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A whole migration on a server of its own, for people to read along: Node makes a v1 deployment, `emq
# migrate` moves it step by step, 2.0 workers drain it, and a v1 client that was forgotten is refused.
# docs/runbook-migration.md is the same walk in prose.
#
# Usage: walk.sh EMQ [JOBS]. EMQ is the program; JOBS (1000) further jobs make the deployment larger.
# Needs node, and test/v1/node_modules. Everything is in a temporary folder that goes in the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
emq=$1
jobs=${2:-1000}
folder=$(mktemp -d)
server=
socket=

end() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap end EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
# show COMMAND...: the command as it is typed, and what it prints.
show() {
  printf '$ %s\n' "$*" | sed "s|$emq|emq|"
  "$@"
}

"$emq" up --dir "$folder/data" >"$folder/up.log" 2>&1 &
server=$!
export EMQ_URL="embedded:$folder/data"
for ((i = 0; i < 200; i++)); do
  socket=$(find "$folder/data" -name "*.sock" 2>/dev/null | head -1 || true)
  [[ -S $socket ]] && "$emq" status >/dev/null 2>&1 && break
  sleep 0.05
done
[[ -S $socket ]] || { echo "the server did not start: $(cat "$folder/up.log")" >&2; exit 1; }

say "1. Node makes a v1 deployment: five queues, flows over three of them, schedulers, $jobs jobs more"
show node test/v1/make_deployment.mjs "unix://$socket" bull measured "$jobs"
queues=(orders mail images parts early)

say "2. What is there, and does anything block?"
show "$emq" migrate plan "${queues[@]}"

say "3. v1 is shut out, and everything that is at rest is copied"
show "$emq" migrate run "${queues[@]}"
show "$emq" migrate status "${queues[@]}"

say "4. A v1 client that is running still is refused, and so is a 2.0 client that is too early"
show node test/v1/try_add.mjs "unix://$socket" bull orders
printf '$ emq add orders too-early\n'
if "$emq" add orders too-early; then exit 1; fi

say "5. Each job is compared"
show "$emq" migrate verify "${queues[@]}"

say "6. The queues are opened here, and what v1 had is deleted"
show "$emq" migrate finish "${queues[@]}"
show "$emq" status
show "$emq" schedule list orders

say "7. Workers of 2.0 take over: nothing is lost, and parents run when their children are done"
show "$emq" resume mail
for queue in "${queues[@]}"; do
  show "$emq" promote "$queue" --all
done
workers=()
for queue in "${queues[@]}"; do
  "$emq" work "$queue" --exec 'cat >/dev/null; echo done' --concurrency 4 --keep-completed all >"$folder/$queue.log" 2>&1 &
  workers+=($!)
done
for ((i = 0; i < 1200; i++)); do
  left=$("$emq" status --json | node -e '
    const { queues } = JSON.parse(require("fs").readFileSync(0, "utf8"));
    const pending = ["waiting", "prioritized", "active", "waiting_children"];
    console.log(queues.reduce((n, queue) => n + pending.reduce((sum, state) => sum + queue[state], 0), 0));')
  ((left == 0)) && break
  sleep 0.1
done
kill "${workers[@]}"
wait "${workers[@]}" 2>/dev/null || true
show "$emq" status
show "$emq" job mail parent-1

say "8. The v1 client that was forgotten is refused still, and says so"
show node test/v1/try_add.mjs "unix://$socket" bull orders
((left == 0)) || { echo "$left jobs are left" >&2; exit 1; }
say "Moved."
