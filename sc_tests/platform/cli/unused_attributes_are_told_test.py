"""Attributes that do nothing in the link mode that runs: is each told once, whose it is, and not where it acts? Does
probe's bottleneck bound what it measures?"""
import json

from cli_support import Cli, main, topology

NARROW = ["--set", "edge:memory.bw_gbs=16"]
INEFFICIENT = ["--set", "*.hbm_ctrl.*.efficiency=0.5"]


class UnusedAttributes(Cli):
    def warnings(self, *arguments, file="small.yaml"):
        status, out, err = self.run_cli(arguments[0], "--topology", topology(file), *arguments[1:])
        self.assertEqual(status, 0, err)
        self.assertEqual([line for line in err.splitlines() if "warning" not in line], [])
        return err.splitlines(), out

    def test_of_an_edge_that_bounds_nothing(self):
        for links in ("ideal", "cut_through"):
            for command in (["probe", "--case", "pe-local-hbm"], ["run", "--kernel", "vector_add"]):
                lines, _ = self.warnings(*command, "--links", links, *NARROW)
                self.assertEqual(len(lines), 1, lines)
                for words in ("kernbench: warning: sip0.cube0.hbm_ctrl.pe0 and 7 more: ", "edge of 16 GB/s",
                              "channels of 256 GB/s", "with links: " + links, "links: flit counts both"):
                    self.assertIn(words, lines[0])

    def test_of_efficiency(self):
        lines, _ = self.warnings("probe", *INEFFICIENT)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("sip0.cube0.hbm_ctrl.pe0 and 7 more: with links: ideal efficiency does nothing", lines[0])
        self.assertEqual(len(self.warnings("probe", *INEFFICIENT, *NARROW)[0]), 2)

    def test_nothing_where_it_acts_or_is_not_given(self):
        for arguments in (["--links", "flit", *NARROW, *INEFFICIENT], ["--links", "cut_through", *INEFFICIENT], [],
                          ["--set", "edge:memory.bw_gbs=256"]):
            self.assertEqual(self.warnings("probe", *arguments)[0], [], arguments)
        self.assertEqual(self.warnings("probe", *INEFFICIENT, file="latency_model.yaml")[0], [])

    def test_the_bottleneck_bounds_what_is_measured(self):
        for links in ("ideal", "cut_through", "flit"):
            for settings in (NARROW, ["--set", "*.hbm_ctrl.*.pc_bw_gbs=2"], ["--set", "edge:mesh.bw_gbs=8"], []):
                _, out = self.warnings("probe", "--links", links, "--bytes", "1048576", "--format", "json", *settings)
                for row in json.loads(out)["cases"]:
                    self.assertLessEqual(row["util_pct"], 100.001, (links, settings, row["case"]))
                    self.assertGreater(row["util_pct"], 50, (links, settings, row["case"]))


if __name__ == "__main__":
    main()
