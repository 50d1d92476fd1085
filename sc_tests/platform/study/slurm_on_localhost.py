# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one's own on this machine, for a test: its own munged, slurmctld and slurmds, in a folder and on ports of
their own. Nothing of the system's is read or written."""
import ctypes
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo")


class CannotRun(Exception):
    """Why there is none."""


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


class Slurm:
    """With so many nodes, which are all this machine, for one job at a time each."""

    def __init__(self, folder, nodes):
        missing = [p for p in PROGRAMS if not shutil.which(p, path=PATH)]
        if missing:
            raise CannotRun("there is no " + ", ".join(missing) + " (Debian: apt-get install slurm-wlm munge)")
        self.folder, self.nodes, self.daemons = folder, nodes, []
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": self.file("slurm.conf")}
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def file(self, name):
        return os.path.join(self.folder, name)

    def start(self):
        with open(self.file("munge.key"), "wb") as f:
            os.fchmod(f.fileno(), 0o400)
            f.write(os.urandom(1024))
        os.mkdir(self.file("state"))
        self.configure()
        self.daemon("munged", "--foreground", "--force", "--key-file=" + self.file("munge.key"),
                    "--socket=" + self.file("munge.sock"), "--pid-file=" + self.file("munged.pid"),
                    "--log-file=" + self.file("munged.log"), "--seed-file=" + self.file("munge.seed"))
        self.wait_for(lambda: os.path.exists(self.file("munge.sock")), "munged")
        self.daemon("slurmctld", "-D")
        for node in range(1, self.nodes + 1):
            self.daemon("slurmd", "-D", "-N", f"n{node}")
        self.wait_for(lambda: self.ask("sinfo", "-h", "-o", "%t %D", check=False).split() == ["idle", str(self.nodes)],
                      "slurmctld and slurmd")

    def configure(self):
        ports = free_ports(1 + self.nodes)
        host, user = socket.gethostname().split(".")[0], getpass.getuser()
        lines = [f"ClusterName=kernbench\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}",
                 f"AuthType=auth/munge\nAuthInfo=socket={self.file('munge.sock')}\nCredType=cred/munge",
                 f"SlurmctldPort={ports[0]}\nStateSaveLocation={self.file('state')}",
                 f"SlurmdSpoolDir={self.file('spool.%n')}",
                 f"SlurmctldPidFile={self.file('slurmctld.pid')}\nSlurmdPidFile={self.file('slurmd.%n.pid')}",
                 f"SlurmctldLogFile={self.file('slurmctld.log')}\nSlurmdLogFile={self.file('slurmd.%n.log')}",
                 "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none",
                 "SchedulerType=sched/builtin\nSchedulerParameters=sched_interval=1,batch_sched_delay=0",
                 "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\nKillWait=5",
                 "JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none"]
        lines += [f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"
                  for i, port in enumerate(ports) if i > 0]
        lines.append("PartitionName=all Nodes=ALL Default=YES State=UP")
        with open(self.environment["SLURM_CONF"], "w") as f:
            f.write("\n".join(lines) + "\n")

    def daemon(self, *command):
        with open(self.file("daemons.err"), "ab") as err:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=err,
                                                 stderr=err, preexec_fn=end_with_parent))

    def wait_for(self, condition, who):
        deadline = time.monotonic() + 30
        while not condition():
            if time.monotonic() > deadline or any(d.poll() is not None for d in self.daemons):
                with open(self.file("daemons.err"), errors="replace") as f:
                    raise CannotRun(f"{who} cannot be started here: {f.read()[-500:].strip()}")
            time.sleep(0.1)

    def ask(self, *command, check=True):
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)
        if check and done.returncode != 0:
            raise AssertionError(f"{command}: {done.stderr}")
        return done.stdout

    def wait_until_empty(self, seconds):
        deadline = time.monotonic() + seconds
        while self.ask("squeue", "-h"):
            if time.monotonic() > deadline:
                raise AssertionError("jobs do not end: " + self.ask("squeue"))
            time.sleep(0.2)

    def stop(self):
        """Jobs first: what runs them is no child of this process."""
        if len(self.daemons) > 1:
            self.ask("scancel", "--user=" + getpass.getuser(), check=False)
            deadline = time.monotonic() + 20
            while self.ask("squeue", "-h", check=False) and time.monotonic() < deadline:
                time.sleep(0.2)
        for d in reversed(self.daemons):
            d.terminate()
        for d in self.daemons:
            try:
                d.wait(10)
            except subprocess.TimeoutExpired:
                d.kill()
                d.wait()
        self.daemons = []
