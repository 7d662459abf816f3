"""The outside libraries, one a file; each is imported when it is used and its errors are translated here.

Some report to their makers unless they are told not to, and read that when they are loaded: ONNX Runtime
(from 1.29 on, on Linux too: what a model is called and how it runs, with an id of the machine that it keeps
in the user's cache), and the client of the model hub. Nothing leaves this machine unasked, so they are told
here, for child processes too. Whoever has set these variables otherwise has their way.
"""

import os

for _variable in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
    os.environ.setdefault(_variable, "1")
