#!/usr/bin/env bash
# Installs the ACP agents that the tests run against, once, into the folder that is given, from the npm registry:
# pi-acp, and the Claude agent's adapter with its program. They run on the Node, and pi-acp with the Pi, that
# ../pi/install.sh brings. Without npm it says so, and the tests are skipped.
set -euo pipefail
folder=$1
packages="pi-acp@0.0.34 @agentclientprotocol/claude-agent-acp@0.101.0"

if ! command -v npm >/dev/null; then
    echo "npm is not installed: the tests with real ACP agents are skipped (sudo apt install npm)" >&2
    exit 0
fi
mkdir -p "$folder"
exec 9>"$folder/.acp-lock"
flock 9
[ "$(cat "$folder/acp/installed" 2>/dev/null)" = "$packages" ] && exit 0
rm -rf "$folder/acp"
mkdir -p "$folder/acp"
# shellcheck disable=SC2086 # a list
npm install --prefix "$folder/acp" --ignore-scripts --no-audit --no-fund --silent $packages 9>&-
echo "$packages" >"$folder/acp/installed"
