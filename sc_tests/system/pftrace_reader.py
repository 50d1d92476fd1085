# SPDX-License-Identifier: Apache-2.0
"""A reader of Perfetto traces of its own: as packets, by the few fields of Perfetto's protos that kernbench writes
(docs/trace.md), any other being an error; and as what a viewer makes of packets. That the fields are Perfetto's is shown
by perfetto_traces_decode_by_the_published_schema_test.py."""
import collections
import struct

TRACK_EVENT = {
    3: ("category_iids", ["uint"]), 4: ("debug_annotations", None), 9: ("type", "uint"), 10: ("name_iid", "uint"),
    11: ("track_uuid", "uint"), 30: ("counter_value", "uint"), 44: ("double_counter_value", "double"),
    47: ("flow_ids", ["fixed64"]), 48: ("terminating_flow_ids", ["fixed64"])}
DEBUG_ANNOTATION = {1: ("name_iid", "uint"), 3: ("uint_value", "uint"), 5: ("double_value", "double"),
                    6: ("string_value", "string")}
DEBUG_ANNOTATION[11] = ("dict_entries", [DEBUG_ANNOTATION])
TRACK_EVENT[4] = ("debug_annotations", [DEBUG_ANNOTATION])
INTERNED = {1: ("iid", "uint"), 2: ("name", "string")}
TRACK_DESCRIPTOR = {
    1: ("uuid", "uint"), 2: ("name", "string"), 5: ("parent_uuid", "uint"),
    3: ("process", {1: ("pid", "uint"), 6: ("process_name", "string")}),
    4: ("thread", {1: ("pid", "uint"), 2: ("tid", "uint"), 5: ("thread_name", "string")}),
    8: ("counter", {6: ("unit_name", "string"), 7: ("y_axis_share_key", "string")})}
TRACE_PACKET = {
    8: ("timestamp", "uint"), 10: ("trusted_packet_sequence_id", "uint"), 11: ("track_event", TRACK_EVENT),
    12: ("interned_data", {1: ("event_categories", [INTERNED]), 2: ("event_names", [INTERNED]),
                           3: ("debug_annotation_names", [INTERNED])}),
    13: ("sequence_flags", "uint"), 60: ("track_descriptor", TRACK_DESCRIPTOR)}
TRACE = {1: ("packet", [TRACE_PACKET])}

CLEARED, NEEDS_STATE = 1, 2
SLICE_BEGIN, SLICE_END, INSTANT, COUNTER = 1, 2, 3, 4

Slice = collections.namedtuple("Slice", "name category from_fs to_fs arguments flows ends_flows")
Instant = collections.namedtuple("Instant", "name category fs arguments")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            assert shift <= 70 and value < 1 << 64, "a number of more than 64 bits"
            return value, at


def message(data, fields):
    """The bytes as a dictionary by the names of the fields."""
    found, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]
        repeated = isinstance(kind, list)
        kind = kind[0] if repeated else kind
        wire = {"uint": 0, "fixed64": 1, "double": 1}.get(kind if isinstance(kind, str) else "", 2)
        assert tag & 7 == wire, f"{name}: wire type {tag & 7}"
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0], at + 8
        else:
            size, at = varint(data, at)
            assert at + size <= len(data), f"{name}: is cut off"
            value, at = data[at:at + size], at + size
            value = value.decode() if kind == "string" else message(value, kind)
        if repeated:
            found.setdefault(name, []).append(value)
        else:
            assert name not in found, f"{name} comes twice"
            found[name] = value
    return found


def packets(data):
    return message(data, TRACE).get("packet", [])


class Pftrace:
    """What a viewer shows: processes and tracks by name; slices nested by their ends, in order of time and, at one time,
    of the file."""

    def __init__(self, all_packets):
        self.processes = {}  # pid -> name
        self.tracks = {}  # uuid -> (process, thread)
        self.counters = {}  # uuid -> (group or process, name, unit)
        self.groups = {}  # uuid -> name
        self.slices = collections.defaultdict(list)  # by (process, thread)
        self.instants = collections.defaultdict(list)
        self.values = collections.defaultdict(list)  # by (group, name): [(fs, value)]
        self._texts = {"event_categories": {}, "event_names": {}, "debug_annotation_names": {}}
        events = []
        for i, packet in enumerate(all_packets):
            assert packet["trusted_packet_sequence_id"] == 1
            assert packet["sequence_flags"] == (NEEDS_STATE | CLEARED if i == 0 else NEEDS_STATE), i
            for kind, entries in packet.get("interned_data", {}).items():
                for entry in entries:
                    assert self._texts[kind].setdefault(entry["iid"], entry["name"]) == entry["name"], entry
            if "track_descriptor" in packet:
                self._descriptor(packet["track_descriptor"])
            else:
                events.append((packet["timestamp"], self._resolved(packet["track_event"])))
        events.sort(key=lambda e: e[0])  # stable, like Perfetto's trace processor
        self._events(events)

    def _descriptor(self, d):
        uuid = d["uuid"]
        assert uuid and not any(uuid in known for known in (self.tracks, self.counters, self.groups)), d
        if "process" in d:
            process = d["process"]
            assert process["pid"] > 0 and process["pid"] not in self.processes, d
            self.processes[process["pid"]] = self.groups[uuid] = process.get("process_name", "")
        elif "thread" in d:
            thread = d["thread"]
            assert thread["tid"] > 0, d
            self.tracks[uuid] = (self.processes.get(thread["pid"], ""), thread["thread_name"])
        elif "counter" in d:
            self.counters[uuid] = (self.groups[d["parent_uuid"]], d["name"], d["counter"]["unit_name"])
        else:
            self.groups[uuid] = d["name"]

    def _resolved(self, event):
        """With texts for their numbers, as they are known at this packet."""
        event = dict(event)
        if "name_iid" in event:
            event["name"] = self._texts["event_names"][event["name_iid"]]
            event["categories"] = [self._texts["event_categories"][c] for c in event["category_iids"]]
        event["arguments"] = self._arguments(event.get("debug_annotations", []))
        return event

    def _arguments(self, annotations):
        found = {}
        for a in annotations:
            name = self._texts["debug_annotation_names"][a["name_iid"]]
            assert name not in found, f"{name} comes twice"
            [value] = [a[k] for k in ("uint_value", "double_value", "string_value", "dict_entries") if k in a]
            found[name] = self._arguments(value) if isinstance(value, list) else value
        return found

    def _events(self, events):
        open_slices = collections.defaultdict(list)
        for fs, e in events:
            uuid = e["track_uuid"]
            if e["type"] == COUNTER:
                group, name, _ = self.counters[uuid]
                value = e["double_counter_value"] if "double_counter_value" in e else e["counter_value"]
                self.values[group, name].append((fs, value))
            elif e["type"] == INSTANT:
                self.instants[self.tracks[uuid]].append(Instant(e["name"], e["categories"][0], fs, e["arguments"]))
            elif e["type"] == SLICE_BEGIN:
                open_slices[uuid].append((fs, e))
            else:
                assert e["type"] == SLICE_END, e
                assert open_slices[uuid], f"an end of nothing at {fs} on {self.tracks[uuid]}"
                from_fs, begin = open_slices[uuid].pop()
                self.slices[self.tracks[uuid]].append(
                    Slice(begin["name"], begin["categories"][0], from_fs, fs, begin["arguments"],
                          begin.get("flow_ids", []), begin.get("terminating_flow_ids", [])))
        assert not any(open_slices.values()), "slices without an end"
