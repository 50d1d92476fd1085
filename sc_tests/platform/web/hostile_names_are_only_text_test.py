# SPDX-License-Identifier: Apache-2.0
"""Do names that are markup, scripts or ends of comments stay text: in a report, and on the page of a folder? A topology's
file, its nodes' ids, a tensor's file and a folder are called so. The browser's part needs Chromium."""
import contextlib
import json
import os
import unittest

import cli_support
from browser import CHROMIUM, Browser
from page_server import PageServer, without_web

# The effect of each text if it is not treated as text: a mark on the window, a requested image, an end of the data.
HOSTILE = ("<img src=x onerror=window.hit=1>", "'\"><script>window.hit=2<\\script>", "--><!--", "${window.hit=3}",
           "]]>&lt;b&gt;&#60;i>", "\u202eevil\u2028line", "{{hit}}%3Cb%3E", "javascript:window.hit=4")


def system(name):
    """A flat system whose PE has the name, in JSON, which YAML has in it."""
    blocks = {"pe_cpu": {}, "pe_scheduler": {}, "pe_dma": {}, "pe_fetch_store": {},
              "pe_gemm": {"macs_per_cycle": 64, "freq_ghz": 1.0}, "pe_math": {"lanes": 64, "freq_ghz": 1.0},
              "pe_tcm": {"size_mb": 2.0, "reserved_mb": 1.0, "read_bw_gbs": 64.0, "write_bw_gbs": 64.0}}
    pe = name.replace(".", "_") + ".pe"
    return {"nodes": [{"id": f"{pe}.{k}", "kind": k, "attrs": a} for k, a in blocks.items()] + [{"id": name, "kind": "hbm_ctrl"}],
            "links": [{"from": f"{pe}.pe_dma", "to": name, "distance_mm": 1.0, "bw_gbs": 64.0}],
            "memories": [{"node": name, "space": "hbm", "base": 0, "size": 1 << 24}]}


class Names(cli_support.FolderCli):
    def files(self):
        """A topology of each name that the compiler takes, by that name too."""
        made = []
        for i, name in enumerate(HOSTILE):
            file = os.path.join(self.folder, name.replace("/", "_") + f"{i}.yaml")
            with open(file, "w", encoding="utf-8") as f:
                json.dump(system(name), f)
            if self.run_cli("topology", file)[0] == 0:
                made.append(file)
        self.assertGreater(len(made), len(HOSTILE) // 2, "names of nodes are refused")
        return made

    def test_a_report_has_them_as_data(self):
        for file in self.files():
            page = os.path.join(self.folder, "r.html")
            self.succeeds("run", "--topology", file, "--kernel", "vector_add", "--param", "n=64", "--report", page)
            with open(page, encoding="utf-8") as f:
                text = f.read()
            for markup in ("<img src=x", "<script>window.hit", "--><!--", "<b>"):
                self.assertNotIn(markup, text, file)

    @unittest.skipUnless(CHROMIUM, "there is no Chromium")
    def test_pages_show_them_and_do_nothing(self):
        made = self.files()
        with contextlib.closing(Browser(os.path.join(self.folder, "browser"))) as b:
            for file in made:
                page = os.path.join(self.folder, "r.html")
                self.succeeds("run", "--topology", file, "--kernel", "vector_add", "--param", "n=64", "--report", page)
                b.open("file://" + page)
                self.assertIsNone(b.value("window.hit"), file)
                self.assertEqual(b.complaints(), [], file)
            # The page serves only plain names: the contents of such a file may be hostile too.
            for i, file in enumerate(made):
                os.rename(file, os.path.join(self.folder, f"t{i}.yaml"))
                os.mkdir(os.path.join(self.folder, os.path.basename(file) + ".run"))
            with open(os.path.join(self.folder, "<img src=x onerror=window.hit=5>.yaml"), "w", encoding="utf-8"):
                pass
            with contextlib.closing(PageServer(self.folder)) as server:
                b.open(server.url + "/")
                for i in range(len(made)):
                    server.run({"kernel": "vector_add", "topology": f"t{i}.yaml", "params": {"n": "64"}})
                b.wait_for(f"document.querySelectorAll('#runs tbody tr').length >= {len(made)}")
                self.assertNotIn("onerror", b.value("document.body.textContent"))
                self.assertEqual({r["state"] for r in server.runs()}, {"done"})
                self.assertIsNone(b.value("window.hit"))
                self.assertEqual(b.complaints(), [])
                for url in b.requests():
                    self.assertTrue(url.startswith((server.url, "data:", "file://" + self.folder)), url)


if __name__ == "__main__":
    without_web()
    cli_support.main()
