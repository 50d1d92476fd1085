# SPDX-License-Identifier: Apache-2.0
"""A reader of FTR files of its own, from the format's description (platform/observe/README.md): it takes what that allows, and
nothing else. CBOR itself is read by cbor2."""
import collections
import io

from cli_support import leave_out

try:
    import cbor2
except ImportError:
    leave_out("there is no cbor2 (Debian: apt-get install python3-cbor2)")

Transaction = collections.namedtuple("Transaction", "id stream generator start end attributes")
Relation = collections.namedtuple("Relation", "name source sink")

INFO, DICTIONARY, DIRECTORY, TRANSACTIONS, RELATIONS = 6, 8, 10, 12, 14  # tags of uncompressed chunks
STREAM, GENERATOR = 16, 17
EVENT, ATTRIBUTES = 6, {7: "begin", 8: "record", 9: "end"}
UNSIGNED, STRING = 3, 10
SELF_DESCRIBED = b"\xd9\xd9\xf7"
BEGIN, BREAK = b"\x9f", b"\xff"


def whole(data):
    """The one item that the bytes are."""
    stream = io.BytesIO(data)
    item = cbor2.CBORDecoder(stream).decode()
    assert stream.tell() == len(data), "bytes behind the item"
    return item


class Ftr:
    def __init__(self, data):
        self.unit = None  # exponent of ten, seconds
        self.strings = {}
        self.streams = {}  # id -> (name, kind)
        self.generators = {}  # id -> (name, stream)
        self.transactions = {}
        self.relations = []
        self.complete = False
        self._types = {}  # of attributes
        self._ends = []  # of relations, in the order of the file
        assert data.startswith(SELF_DESCRIBED + BEGIN), "no FTR file"
        stream = io.BytesIO(data)
        stream.seek(4)
        while (at := stream.tell()) < len(data):
            if data[at:at + 1] == BREAK:
                self.complete = True
                assert at + 1 == len(data), "bytes behind the end"
                break
            try:
                chunk = cbor2.CBORDecoder(stream).decode()
            except cbor2.CBORDecodeEOF:  # killed within a chunk
                break
            self._chunk(chunk)
        if self.complete:
            for name, source, sink, source_stream, sink_stream in self._ends:
                assert self.transactions[source].stream == source_stream, f"{name} {source}"
                assert self.transactions[sink].stream == sink_stream, f"{name} {sink}"

    def _chunk(self, chunk):
        assert isinstance(chunk, cbor2.CBORTag), chunk
        assert (chunk.tag == INFO) == (self.unit is None), "the info chunk is the first, and one"
        if chunk.tag == INFO:
            # Tag 1, a time since 1970, is converted to a date here.
            self.unit, made = whole(chunk.value)
            assert made.timestamp() == 0, "the date is not the run's"
        elif chunk.tag == DICTIONARY:
            for key, text in whole(chunk.value).items():
                assert key == len(self.strings), "keys follow each other from 0"
                self.strings[key] = text
        elif chunk.tag == DIRECTORY:
            for entry in whole(chunk.value):
                self._entry(entry)
        elif chunk.tag == TRANSACTIONS:
            stream, start, end, content = chunk.value
            assert stream in self.streams, stream
            block = [self._transaction(t, stream) for t in whole(content)]
            assert (start, end) == (min(t.start for t in block), max(t.end for t in block))
        elif chunk.tag == RELATIONS:
            for name, source, sink, source_stream, sink_stream in whole(chunk.value):
                self._ends.append((self.strings[name], source, sink, source_stream, sink_stream))
                self.relations.append(Relation(self.strings[name], source, sink))
        else:
            raise AssertionError(f"a chunk of tag {chunk.tag}")

    def _entry(self, entry):
        if entry.tag == STREAM:
            stream, name, kind = entry.value
            assert stream not in self.streams
            self.streams[stream] = (self.strings[name], self.strings[kind])
        else:
            assert entry.tag == GENERATOR, entry
            generator, name, stream = entry.value
            assert generator not in self.generators and stream in self.streams
            self.generators[generator] = (self.strings[name], stream)

    def _transaction(self, parts, stream):
        event, *attributes = parts
        assert event.tag == EVENT
        number, generator, start, end = event.value
        assert self.generators[generator][1] == stream and 0 < number and 0 <= start <= end, event
        assert number not in self.transactions
        found = {}
        for a in attributes:
            key, kind, value = a.value
            name = self.strings[key]
            assert a.tag in ATTRIBUTES and kind in (UNSIGNED, STRING) and name not in found
            assert self._types.setdefault(name, (a.tag, kind)) == (a.tag, kind), f"{name} is of two types"
            assert isinstance(value, int) and value >= 0
            found[name] = self.strings[value] if kind == STRING else value
        t = Transaction(number, stream, self.generators[generator][0], start, end, found)
        self.transactions[number] = t
        return t

    # Queries of tests.
    def stream(self, t):
        return self.streams[t.stream][0]

    def named(self, *generators):
        return [t for t in self.transactions.values() if t.generator in generators]

    def parents(self, *names):
        """sink id -> [source transaction] of the relations of these names; of all, where none is given."""
        found = collections.defaultdict(list)
        for r in self.relations:
            if not names or r.name in names:
                found[r.sink].append(self.transactions[r.source])
        return found

    def children(self, *names):
        found = collections.defaultdict(list)
        for r in self.relations:
            if not names or r.name in names:
                found[r.source].append(self.transactions[r.sink])
        return found


def femtoseconds(ns):
    """As the timing contract has it."""
    return int(ns * 1e6 + 0.38)
