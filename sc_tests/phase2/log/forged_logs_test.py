# SPDX-License-Identifier: Apache-2.0
"""What no checksum tells: a log with numbers that are no sizes and no times, or with other tables than a log has, though
its checksums are right. Each is one line and exit status 2, and soon."""
import os
import re
import shutil
import sqlite3
import tempfile

import cli_support
from cli_support import topology


def checksum(data, value=0xCBF29CE484222325):
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def with_checksums(lines):
    """The lines of a log, each that is a checksum made anew."""
    value, made = checksum(b""), []
    for line in lines:
        if b'"op_name":"log_check"' in line or b'"op_name":"log_end"' in line:
            line = re.sub(rb'"checksum":"\w+"', b'"checksum":"%016x"' % value, line)
        made.append(line)
        value = checksum(line + b"\n", value)
    return b"\n".join(made) + b"\n"


class Forged(cli_support.Cli):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        for name in ("good.jsonl", "good.db"):
            status, _, err = cls.run_cli(cls, "run", "--topology", topology("small.yaml"), "--kernel", "vector_add",
                                         "--param", "n=64", "--pes", "sip0.cube0.pe0", "--oplog", cls.at(name),
                                         "--memory", cls.at("good.kbmem"))
            assert status == 0, err

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def refused(self, file, *saying):
        found, out, err = self.run_cli("replay", "--oplog", self.at(file), "--memory", self.at("good.kbmem"), timeout=10)
        self.assertEqual((found, out), (2, ""), err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        for word in (file, *saying):
            self.assertIn(word, err)

    def test_the_log_that_the_others_vary_is_good(self):
        with open(self.at("good.jsonl"), "rb") as f:
            good = f.read()
        self.assertEqual(with_checksums(good.splitlines()), good)
        for name in ("good.jsonl", "good.db"):
            self.succeeds("replay", "--oplog", self.at(name), "--memory", self.at("good.kbmem"))

    def test_numbers_that_are_no_sizes_times_or_addresses(self):
        with open(self.at("good.jsonl"), "rb") as f:
            lines = f.read().splitlines()
        for field, value, *saying in (("shape", "[-2147483648]", "too large or negative"),
                                      ("shape", "[4611686018427387904]", "too large or negative"),
                                      ("shape", "[3037000500,3037000500]", "too large or negative"),
                                      ("shape", "[1e300]", "expected a whole number"),
                                      ("src_addr", "-1", "expected a whole number from 0"),
                                      ("src_addr", "1.5", "expected a whole number from 0"),
                                      ("src_addr", "18446744073709551612", "runs over the end of all addresses"),
                                      ("seq", "99999999999999999999", "expected a whole number"),
                                      ("t_start", "1e300", "expected 0 to 2^64 fs"),
                                      ("t_end", "-5", "expected 0 to 2^64 fs"),
                                      ("submit_ns", "2e13", "expected 0 to 2^64 fs"),
                                      ("grid", "[3037000500,3037000500,2]", "too large or negative"),
                                      ("source", '"k.cpp:99999999999"', "expected a file and a line")):
            name = b'"log_header"' if field == "grid" else b'"dma_read"'
            at = next(i for i, line in enumerate(lines) if name in line)
            pattern = rb'("%s":)(\[[^]]*\]|"[^"]*"|[^,}]+)' % field.encode()
            forged, times = re.subn(pattern, rb"\g<1>" + value.encode(), lines[at], count=1)
            self.assertEqual(times, 1, field)
            with open(self.at("bad.jsonl"), "wb") as f:
                f.write(with_checksums([*lines[:at], forged, *lines[at + 1:]]))
            with self.subTest(field=field, value=value):
                self.refused("bad.jsonl", *saying)

    def forge_database(self, *statements):
        shutil.copy(self.at("good.db"), self.at("bad.db"))
        db = sqlite3.connect(self.at("bad.db"))
        for statement in statements:
            db.execute(statement)
        db.commit()
        db.close()

    def test_versions_that_are_to_come(self):
        with open(self.at("good.jsonl"), "rb") as f:
            lines = f.read().splitlines()
        header, times = re.subn(rb'("version":)1\b', rb"\g<1>2", lines[0], count=1)
        self.assertEqual(times, 1)
        with open(self.at("bad.jsonl"), "wb") as f:
            f.write(with_checksums([header, *lines[1:]]))
        self.refused("bad.jsonl", "log version 2, expected 1")
        self.forge_database("UPDATE header SET value = '2' WHERE key = 'version'")
        self.refused("bad.db", "log version 2, expected 1")

    def test_tables_that_are_none(self):
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 'a', x FROM n"
        for table, view in (("header", f"CREATE VIEW header(key, value) AS {endless}"),
                            ("pes", f"CREATE VIEW pes(id, name) AS {endless}"),
                            ("tokens", "CREATE TABLE tokens(op_id)"),
                            ("components", "CREATE VIRTUAL TABLE components USING fts5(id, name)")):
            self.forge_database(f"DROP TABLE {table}", view)
            with self.subTest(table=table):
                self.refused("bad.db", f"its table {table} is another or missing")

    def test_tables_of_a_users_own_do_not_matter(self):
        self.forge_database("CREATE TABLE mine(x)", "CREATE INDEX by_time ON commands(t_start)",
                            "CREATE VIEW loads AS SELECT * FROM ops WHERE op_name = 'dma_read'")
        self.succeeds("replay", "--oplog", self.at("bad.db"), "--memory", self.at("good.kbmem"))


if __name__ == "__main__":
    cli_support.main()
