#!/usr/bin/env bash
# Installs the ACP agents that the tests run against, once, into the folder that is given, from the npm registry:
# pi-acp, and the Claude agent's adapter with its program. They run on the Node that ../npm.sh brings, and pi-acp
# with the Pi of ../pi/install.sh.
set -euo pipefail
folder=$1
python=${2:-python3}
# shellcheck source=../npm.sh
source "$(dirname "$0")/../npm.sh"

install acp "ACP agents" pi-acp@0.0.34 @agentclientprotocol/claude-agent-acp@0.101.0
