# SPDX-License-Identifier: Apache-2.0
"""Points of kernbench, asked for by `kernbench serve --stdio` (docs/optimisers.md)."""
import json
import subprocess


class Points:
    """A warm kernbench; as a context manager it ends with its block."""

    def __init__(self, *base, jobs=2, options=()):
        """base: `run` and the options that stay the same. options: of `kernbench serve`, such as ("--store", FILE)."""
        command = ["kernbench", "serve", "--stdio", "--jobs", str(jobs), *options, "--", *base]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        hello = self._read()
        if hello.get("protocol") != 1:
            raise RuntimeError(f"kernbench {hello.get('kernbench')} speaks another protocol: {hello.get('protocol')}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()

    def _read(self):
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError(f"kernbench has ended, exit status {self.server.wait()}")
        return json.loads(line)

    def answers(self, points):
        """What kernbench says of each of these mappings from option to value, in their order; keep them to a few."""
        for i, options in enumerate(points):
            print(json.dumps({"id": i, "options": options}), file=self.server.stdin)
        found = [self._read() for _ in points]  # in the order in which they end
        return sorted(found, key=lambda answer: answer["id"])


def optimise(study, points, options_of, metrics, trials, batch=2):
    """Lets an Optuna study choose `trials` points, `batch` at a time: so that the same seed gives the same study however
    fast each point is. A point that fails is a trial that failed."""
    import optuna
    for _ in range(0, trials, batch):
        asked = [study.ask() for _ in range(batch)]
        for trial, answer in zip(asked, points.answers([options_of(trial) for trial in asked])):
            if answer["status"] == 0:
                study.tell(trial, [answer["metrics"][name] for name in metrics])
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
