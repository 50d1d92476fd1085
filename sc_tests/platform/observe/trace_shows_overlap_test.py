#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --trace shows is true: slices fill every track, double buffering overlaps DMA with GEMM, single does not; segments
of messages are those of the op log, and arrows join their servers. And it has the form that viewers ask for."""
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

KERNBENCH = os.environ["KERNBENCH_CLI"]
TOPOLOGIES = pathlib.Path(os.environ["KERNBENCH_TOPOLOGIES"])
ENGINE_SLICES = {"waiting for slot", "queue full", "idle"}


def run_gemm(folder, reserved_mb):
    """A gemm of 32x32x64 f32 tiles (20,480 bytes each) with that much room for tile buffers: trace and report."""
    text = (TOPOLOGIES / "small.yaml").read_text()
    text, count = re.subn(r"reserved_mb: [0-9.]+", f"reserved_mb: {reserved_mb}", text)
    assert count, "small.yaml has no reserved_mb"
    system = folder / "system.yaml"
    system.write_text(text)
    trace = folder / "trace.json"
    command = [KERNBENCH, "run", "--topology", system, "--kernel", "gemm", "--param", "m=256", "--param", "n=64",
               "--param", "k=256", "--launch", "direct", "--trace", trace, "--format", "json"]
    first = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    bytes_first = trace.read_bytes()
    subprocess.run(command, check=True, capture_output=True)
    assert trace.read_bytes() == bytes_first, "two runs give two traces"
    return json.loads(bytes_first), json.loads(first)


def tracks(trace):
    """(cube, "pe0 GEMM") by track."""
    return {e["tid"]: (e["pid"], e["args"]["name"]) for e in trace if e["ph"] == "M" and e["name"] == "thread_name"}


def slices(trace):
    by_track = collections.defaultdict(list)
    for e in trace:
        if e["ph"] == "X":
            by_track[e["tid"]].append((e["args"]["start_ns"], e["args"]["end_ns"], e["cat"], e["name"]))
    return by_track


def overlap(a, b):
    return sum(max(0.0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b)


def check_tracks_are_filled(trace, report):
    names = tracks(trace)
    sim_ns = report["sim_ns"]
    for tid, all_slices in slices(trace).items():
        if names[tid][1].endswith(("kernel", "feed")):
            continue
        own = sorted(s for s in all_slices if s[2] == "service" or s[3] in ENGINE_SLICES)
        assert abs(sum(s[1] - s[0] for s in own) - sim_ns) < 1e-6 * sim_ns, f"{names[tid]}: does not fill the run"
        for before, after in zip(own, own[1:]):
            assert before[1] <= after[0] + 1e-6, f"{names[tid]}: {before} overlaps {after}"
    for e in report["engines"]:
        stalls = e["stalls"]
        whole = e["busy_ns"] + stalls["idle_ns"] + stalls["slot_ns"] + stalls["queue_full_ns"]
        assert abs(whole - e["servers"] * sim_ns) < 1e-6 * sim_ns, f"{e['id']}: busy and stalls are not the whole run"


def check_events(trace):
    count = collections.Counter(e["name"] for e in trace if e["ph"] == "i")
    assert count["command_submitted"] == count["command_complete"] == 8, count
    assert count["sub_command_dispatched"] == count["tile_ready"] == 8 * 2 * 4, count
    starts = collections.Counter(e["ph"] for e in trace if e.get("cat") == "tile")
    assert starts["s"] == starts["f"] == 8 * 2 * 4, starts


def dma_under_gemm(trace):
    names = tracks(trace)
    services = {tid: [s for s in v if s[2] == "service"] for tid, v in slices(trace).items()}
    total = 0.0
    by_name = {name: tid for tid, name in names.items()}
    for (cube, name), tid in by_name.items():
        if name.endswith(" DMA_READ"):
            total += overlap(services[tid], services[by_name[cube, name.replace("DMA_READ", "GEMM")]])
    return total


def check_form(trace):
    """The Chrome trace-event form, as Perfetto reads it: each phase has its fields, slices of a track nest, every track has
    one name, and a flow begins once and ends once, in slices."""
    needed = {"M": {"args"}, "X": {"ts", "dur", "cat", "args"}, "i": {"ts", "s", "args"}, "s": {"ts", "id", "cat"},
              "t": {"ts", "id", "cat"}, "f": {"ts", "id", "cat", "bp"}}
    flows, on_track = collections.defaultdict(list), collections.defaultdict(list)
    for e in trace:
        assert needed[e["ph"]] | {"pid", "tid", "name"} <= e.keys(), e
        assert 0 <= e["tid"] < 1 << 32 and 0 <= e["pid"] < 1 << 32 and isinstance(e["name"], str), e
        assert e.get("ts", 0) >= 0 and e.get("dur", 0) >= 0, e
        if e["ph"] == "X":
            on_track[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
        elif e["ph"] in "stf":
            flows[e["cat"], e["id"]].append(e)
    names = collections.Counter((e["pid"], e["tid"]) for e in trace if e["ph"] == "M" and e["name"] == "thread_name")
    assert set(names.values()) == {1} and on_track.keys() <= names.keys()
    for track, own in on_track.items():
        around = []
        for begin, end in sorted(own, key=lambda s: (s[0], -s[1])):
            while around and around[-1] <= begin + 1e-9:
                around.pop()
            assert not around or end <= around[-1] + 1e-9, f"{track}: a slice at {begin} ends after the one around it"
            around.append(end)
    for flow, events in flows.items():
        events.sort(key=lambda e: (e["ts"], "stf".index(e["ph"])))
        phases = "".join(e["ph"] for e in events)
        assert phases[0] == "s" and phases[-1] == "f" and set(phases[1:-1]) <= {"t"}, (flow, phases)
        for e in events:
            assert any(b <= e["ts"] <= end for b, end in on_track[e["pid"], e["tid"]]), f"{e} is in no slice"


def check_messages(folder, links):
    """A ring of eight in rings of one slot: services, arrows, accounts and stalls against the op log."""
    trace, log = folder / "messages.json", folder / "messages.jsonl"
    ring = [x for p in ("algorithm=ring", "n=200", "slots=1", "slot_bytes=64") for x in ("--param", p)]
    subprocess.run([KERNBENCH, "run", "--topology", TOPOLOGIES / "small.yaml", "--kernel", "all_reduce", *ring, "--links",
                    links, "--trace", trace, "--oplog", log], check=True, capture_output=True)
    events = json.loads(trace.read_text())
    check_form(events)
    records = [json.loads(line) for line in log.read_text().splitlines()]
    copies = {r["op_id"]: r for r in records if r.get("op_name") == "ipcq_copy"}
    reads = [r for r in records if r.get("op_name") == "ipcq_recv"]
    assert len(copies) == len(reads) > 100
    names = tracks(events)

    def services(track):
        return [e for e in events if e["ph"] == "X" and names[e["tid"]][1].endswith(track)]

    def times(slices):
        return sorted((e["args"]["op_id"], e["args"]["start_ns"], e["args"]["end_ns"]) for e in slices)

    assert times(services(" SLOT_WRITE")) == sorted((i, r["t_start"], r["t_end"]) for i, r in copies.items())
    assert times(services(" SLOT_READ")) == sorted((r["op_id"], r["t_start"], r["t_end"]) for r in reads)
    grants = sorted(e["args"]["start_ns"] for e in services(" COMM"))
    assert grants == sorted(r["params"]["grant_ns"] for r in copies.values())
    assert bool(services(" INBOUND")) == (links != "flit")
    flows = [e for e in events if e.get("cat") == "message" and e["ph"] in "stf"]
    assert collections.Counter(e["ph"] for e in flows) == {phase: len(reads) for phase in "stf"}
    sent = {r["op_id"]: copies[r["dependency_ids"][0]]["params"]["send_ns"] for r in reads}
    for e in services(" SLOT_READ"):
        account = e["args"]["account"]
        whole = e["args"]["end_ns"] - (sent[e["args"]["op_id"]] - account["call_ns"])
        assert abs(sum(account.values()) - whole) < 1e-6, e
    stalls = {e["name"] for e in events if e["ph"] == "X" and e["cat"] == "stall"}
    assert {"waiting for slot", "waiting for message"} <= stalls, stalls


def check_ranks_overlap(folder):
    """In tensor-parallel programs the ranks compute at the same time."""
    trace = folder / "ranks.json"
    for program, size in (("tp_mlp", "tokens=64"), ("tp_attention", "heads=2"), ("tp_embedding", "tokens=64")):
        subprocess.run([KERNBENCH, "run", "--topology", TOPOLOGIES / "six_sip_torus.yaml", "--program", program, "--param", size,
                        "--ranks", "2", "--pes", "leaders", "--trace", trace], check=True, capture_output=True)
        events = json.loads(trace.read_text())
        cubes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        engine = " DMA_READ" if program == "tp_embedding" else " GEMM"
        of_rank = {"sip0": [], "sip1": []}
        for tid, all_slices in slices(events).items():
            cube, name = tracks(events)[tid]
            if name.endswith(engine):
                of_rank[cubes[cube].split(".")[0]] += [s for s in all_slices if s[2] == "service"]
        assert all(of_rank.values()) and overlap(*of_rank.values()) > 0, program


def check_host(folder, transfer):
    """The host's own track: one thing after the other from 0 to the end of the run."""
    trace = folder / "host.json"
    out = subprocess.run([KERNBENCH, "run", "--topology", TOPOLOGIES / "small.yaml", "--kernel", "vector_add",
                          "--transfer", transfer, "--trace", trace, "--format", "json"], check=True,
                         capture_output=True, text=True).stdout
    report, events = json.loads(out), json.loads(trace.read_text())
    assert [e["args"]["name"] for e in events if e["ph"] == "M" and e["pid"] == 0] == ["host", "host"]
    own = [e for e in events if e["ph"] == "X" and e["pid"] == 0]
    names = [e["name"] for e in own]
    moved = transfer == "timed"
    assert names == ["upload"] * moved + ["launch", "kernels", "completion"] + ["read back"] * moved, names
    at = 0
    for e in own:
        assert e["args"]["start_ns"] == at, e
        at = e["args"]["end_ns"]
    assert abs(at - report["end_ns"]) < 1e-9
    ends = {e["name"]: e["args"]["end_ns"] for e in own}
    assert ends["launch"] == report["start_ns"]
    assert ends["kernels"] == max(pe["end_ns"] for pe in report["pes"])
    names = {e["tid"] for e in events if e["pid"] != 0}
    assert own[0]["tid"] not in names, "the host's track is its own"


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    check_host(folder, "instant")
    check_host(folder, "timed")
    check_ranks_overlap(folder)
    deep, deep_report = run_gemm(folder, 0.0625)  # space for 3 tiles
    single, single_report = run_gemm(folder, 0.03)  # space for 1
    for links in ("ideal", "cut_through", "flit"):
        check_messages(folder, links)
    for trace, report in ((deep, deep_report), (single, single_report)):
        check_form(trace)
        check_tracks_are_filled(trace, report)
        check_events(trace)
    assert dma_under_gemm(deep) > 0, "no DMA under a GEMM although there is room for three tiles"
    assert dma_under_gemm(single) == 0, "a DMA under a GEMM although only one tile may be in flight"
    assert single_report["sim_ns"] > deep_report["sim_ns"]
    window = [e for e in single if e["ph"] == "X" and e["name"] == "waiting for TCM window"]
    assert window, "nothing says that the window is the reason"
print("ok")
