# SPDX-License-Identifier: Apache-2.0
"""Does a damaged store of a sweep ever give another value? Seeded changes of bits, cells, rows and tables: a sweep over
what is left has the rows of the whole store, or says which points are missing, or refuses the file in one line.
With two arguments, how many and the first seed, a campaign by hand."""
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import cli_support
from cli_support import KERNBENCH, topology

SWEEP = ("--over", "param.n=64,96,128,160", "--over", "links=ideal,flit", "--metric", "sim_ns,tflops,verified", "--",
         "run", "--topology", topology("small.yaml"), "--kernel", "vector_add", "--verify")
VALUES = ("null", "0", "1", "-1", "256", "4294967296", "9223372036854775807", "1e300", "'abc'", "''", "x'00ff'", "'{}'",
          "'{\"sim_ns\": 99.32, \"verified\": true}'", "random()", "status + 1", "key", "metrics", "command")
TABLES = ("drop table {t}", "delete from {t}", "alter table {t} rename to other", "create view v as select * from {t}",
          "alter table {t} add column more text",
          "create trigger g after insert on {t} begin update points set status = 0, final = 1; end",
          "create trigger g before update on {t} begin delete from points; end",
          "create trigger g after insert on {t} begin insert into store select i from (with recursive n(i) as "
          "(select 1 union all select i from n) select i from n); end")


def change_bits(file, dice):
    with open(file, "r+b") as f:
        size = os.path.getsize(file)
        for _ in range(dice.choice((1, 1, 2, 8))):
            at = dice.randrange(size)
            f.seek(at)
            old = f.read(1)[0]
            f.seek(at)
            f.write(bytes((old ^ (1 << dice.randrange(8)),)))
        if dice.random() < 0.1:
            f.truncate(dice.randrange(size))


def change_cells(file, dice):
    db = sqlite3.connect(file)
    columns = [row[1] for row in db.execute("pragma table_info(points)")]
    keys = [key for key, in db.execute("select key from points")]
    try:
        for _ in range(dice.choice((1, 1, 2))):
            kind = dice.randrange(8)
            if kind == 0:
                db.execute(dice.choice(TABLES).format(t=dice.choice(("points", "owners", "store"))))
            elif kind == 1:  # a row of another key
                db.execute("delete from points where key = ?", (keys[0],))
                db.execute("update points set key = ? where key = ?", (keys[0], keys[1]))
            elif kind == 2:
                db.execute("update store set kernbench = " + dice.choice(VALUES[:11]))
            else:
                db.execute(f"update points set {dice.choice(columns)} = {dice.choice(VALUES)} where key = ?",
                           (dice.choice(keys),))
    except sqlite3.Error:
        pass  # the database itself refuses it
    db.commit()
    db.close()


def sweep(store, *more):
    return subprocess.run([KERNBENCH, "sweep", "--store", store, *more, *SWEEP], capture_output=True, text=True,
                          timeout=60 * cli_support.TIMES_LONGER)


class Damage(cli_support.Cli):
    count, seed = 40, 33

    def test_never_another_value(self):
        with tempfile.TemporaryDirectory() as folder:
            whole, damaged = os.path.join(folder, "whole"), os.path.join(folder, "damaged")
            rows = sweep(whole).stdout.splitlines()
            self.assertEqual(len(rows), 9)
            outcomes = {0: 0, 1: 0, 2: 0}
            for seed in range(self.seed, self.seed + self.count):
                dice = random.Random(seed)
                for name in os.listdir(folder):
                    if name.startswith("damaged"):
                        os.unlink(os.path.join(folder, name))
                shutil.copy(whole, damaged)
                (change_bits if dice.random() < 0.5 else change_cells)(damaged, dice)
                done = sweep(damaged, *dice.choice((("--stored",), ())))
                self.assertIn(done.returncode, outcomes, (seed, done.stderr))
                outcomes[done.returncode] += 1
                told = done.stderr.strip().splitlines()
                if done.returncode == 2:
                    self.assertEqual((done.stdout, len(told)), ("", 1), (seed, done.stderr))
                    self.assertIn("damaged: ", told[0], seed)
                for row in done.stdout.splitlines():
                    missing = row.split(",")[2] == "1" and row.split(",")[3:] == ["", "", ""]
                    self.assertTrue(row in rows or missing, (seed, row, done.stderr))
            print(f"{self.count} from seed {self.seed}: {outcomes[0]} read, {outcomes[1]} with points missing, "
                  f"{outcomes[2]} refused")
            self.assertGreater(outcomes[2], self.count // 4)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        Damage.count, Damage.seed = int(sys.argv[1]), int(sys.argv[2])
        del sys.argv[1:]
    cli_support.main()
