# SPDX-License-Identifier: Apache-2.0
"""Does an installed kernbench, moved elsewhere, serve a consumer, and do the examples do what their READMEs say?"""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import cli_support

BUILD = os.environ["KERNBENCH_BUILD"]
SOURCE = os.environ["KERNBENCH_SOURCE"]
CMAKE = os.environ["KERNBENCH_CMAKE"]
COMPILER = os.environ["KERNBENCH_CXX"]
# Examples with further dependencies: their configuration reports missing ones.
OPTIONAL = {"axi_pins", "cci_parameters", "optuna", "riscv_host", "verilog_gemm"}


def run(*command, cwd=None, env=None, check=True):
    done = subprocess.run([str(c) for c in command], cwd=cwd, env={**os.environ, **(env or {})},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=280)
    if check and done.returncode != 0:
        raise AssertionError(f"{command}: exit status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done


def said(done):
    """All that was printed, as one line: CMake breaks its messages."""
    return " ".join((done.stdout + done.stderr).split())


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        run(CMAKE, "--install", BUILD, "--prefix", "/first/prefix", env={"DESTDIR": f"{cls.folder}/stage"})
        cls.prefix = f"{cls.folder}/moved"
        shutil.move(f"{cls.folder}/stage/first/prefix", cls.prefix)
        (cls.pkg_config,) = glob.glob(f"{cls.prefix}/lib*/**/pkgconfig", recursive=True)
        cls.standard = cls.variable("cxx_standard")
        cls.other_standard = "17" if cls.standard == "20" else "20"

    @classmethod
    def variable(cls, name):
        return run("pkg-config", f"--variable={name}", "kernbench-platform",
                   env={"PKG_CONFIG_PATH": cls.pkg_config}).stdout.strip()

    def configure(self, source, build, *options, check=True, env=None):
        return run(CMAKE, "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={COMPILER}", *options,
                   check=check, env=env)

    def test_the_examples_build_and_print_what_they_promise(self):
        examples = f"{self.folder}/examples"
        shutil.copytree(f"{SOURCE}/examples", examples)
        configured = said(self.configure(examples, f"{self.folder}/all", f"-DCMAKE_PREFIX_PATH={self.prefix}"))
        run(CMAKE, "--build", f"{self.folder}/all")
        readmes = sorted(glob.glob(f"{examples}/*/README.md"))
        self.assertTrue(readmes)
        for readme in readmes:
            folder = os.path.dirname(readme)
            name = os.path.basename(folder)
            if not os.path.exists(f"{self.folder}/all/{name}/{name}") and name in OPTIONAL:
                with self.subTest(example=name):
                    self.skipTest(re.search(rf"{name}: left out, since (.*?\))", configured)[1])
                continue
            with self.subTest(example=name), open(readme) as text, open(f"{folder}/expected.txt") as expected:
                os.symlink(f"{self.folder}/all/{name}", f"{folder}/build")
                commands = re.findall(r"^\$ (.*)$", text.read(), re.M)
                self.assertTrue(commands, "the README has no '$ ' line")
                out = "".join(run("bash", "-c", c, cwd=folder,
                                  env={"PATH": f"{self.prefix}/bin:{os.environ['PATH']}"}).stdout for c in commands)
                self.assertEqual(out, expected.read())

    def compile_by_pkg_config(self, source, program):
        env = {"PKG_CONFIG_PATH": self.pkg_config}
        flags = run("pkg-config", "--cflags", "--libs", "kernbench-platform", env=env).stdout.split()
        # A SystemC outside the loader's paths (SYSTEMC_HOME) needs its -rpath, like kernbench does.
        folders = [self.variable("libdir"), *(f[2:] for f in flags if f.startswith("-L"))]
        run(COMPILER, f"-std=c++{self.standard}", source, *flags, f"-Wl,-rpath,{':'.join(folders)}", "-o", program)

    def test_pkg_config_is_enough_for_the_minimal_example(self):
        program = f"{self.folder}/minimal"
        self.compile_by_pkg_config(f"{SOURCE}/examples/minimal/main.cpp", program)
        with open(f"{self.pkg_config}/kernbench-platform.pc") as text:
            self.assertRegex(text.read(), rf"(?m)^Description: .*-std=c\+\+{self.standard}")
        with open(f"{SOURCE}/examples/minimal/expected.txt") as expected:
            self.assertEqual(run(program, cwd=f"{SOURCE}/examples/minimal").stdout, expected.read())

    def test_each_example_configures_by_itself(self):
        for file in sorted(glob.glob(f"{SOURCE}/examples/*/CMakeLists.txt")):
            folder = os.path.dirname(file)
            with self.subTest(example=os.path.basename(folder)):
                self.configure(folder, tempfile.mkdtemp(dir=self.folder), f"-DCMAKE_PREFIX_PATH={self.prefix}",
                               "-DCMAKE_CXX_COMPILER_WORKS=1", "-DCMAKE_C_COMPILER_WORKS=1")

    def test_the_example_in_c_needs_no_cxx(self):
        folder = f"{SOURCE}/examples/c_host"
        with open(f"{folder}/expected.txt") as text:
            expected = text.read()
        build = tempfile.mkdtemp(dir=self.folder)
        self.configure(folder, build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DSYSTEMC_HOME=/nowhere")
        run(CMAKE, "--build", build)
        self.assertEqual(run(f"{build}/c_host", "system.yaml", cwd=folder).stdout, expected)
        flags = run("pkg-config", "--cflags", "--libs", "kernbench-c", env={"PKG_CONFIG_PATH": self.pkg_config})
        run("cc", f"{folder}/main.c", *flags.stdout.split(), f"-Wl,-rpath,{self.variable('libdir')}", "-o", f"{build}/by_cc")
        self.assertEqual(run(f"{build}/by_cc", "system.yaml", cwd=folder).stdout, expected)

    def test_a_project_may_contain_the_sources(self):
        for how in (f"add_subdirectory({SOURCE} kernbench)",
                    f"include(FetchContent)\nFetchContent_Declare(kernbench SOURCE_DIR {SOURCE})\n"
                    "FetchContent_MakeAvailable(kernbench)"):
            with self.subTest(how=how):
                source = tempfile.mkdtemp(dir=self.folder)
                with open(f"{source}/CMakeLists.txt", "w") as f:
                    f.write(f"cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n{how}\n"
                            "add_executable(mine main.cpp)\n"
                            "target_link_libraries(mine PRIVATE kernbench::platform kernbench::phase2)\n")
                shutil.copy(f"{SOURCE}/examples/minimal/main.cpp", source)
                self.configure(source, f"{source}/b")  # building all of it would take too long
                run(CMAKE, "--build", f"{source}/b", "--target", "kernbench_attributes")

    def test_the_default_build_is_optimised(self):
        build = tempfile.mkdtemp(dir=self.folder)
        self.configure(SOURCE, build, "-DKERNBENCH_BUILD_TESTS=OFF")
        with open(f"{build}/CMakeCache.txt") as text:
            self.assertIn("\nCMAKE_BUILD_TYPE:STRING=Release\n", text.read())

    def test_public_headers_give_no_warnings(self):
        headers = [os.path.relpath(h, f"{self.prefix}/include")
                   for h in sorted(glob.glob(f"{self.prefix}/include/kernbench/**/*.h", recursive=True))
                   if "/detail/" not in h and "/cci/" not in h]
        with open(f"{self.folder}/headers.cpp", "w") as f:
            f.writelines(f'#include "{h}"\n' for h in headers)
        flags = run("pkg-config", "--cflags", "kernbench-platform", env={"PKG_CONFIG_PATH": self.pkg_config}).stdout.split()
        for compiler, more in ((COMPILER, []), (shutil.which("clang++"), ["-Wsign-conversion"])):
            if not compiler:
                continue
            with self.subTest(compiler=compiler):
                done = run(compiler, f"-std=c++{self.standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Woverloaded-virtual",
                           *more, *flags, f"{self.folder}/headers.cpp")
                self.assertEqual([l for l in done.stderr.splitlines() if "kernbench" in l and "warning:" in l], [])

    def test_the_installed_readme_has_no_dead_links(self):
        (readme,) = glob.glob(f"{self.prefix}/share/doc/**/README.md", recursive=True)
        with open(readme) as text:
            for link in re.findall(r"\[[^\]\n]*\]\(([^)#\s]+)\)", re.sub(r"```.*?```", "", text.read(), flags=re.S)):
                self.assertTrue("://" in link or os.path.exists(os.path.join(os.path.dirname(readme), link)), link)

    def test_a_resolution_that_is_too_coarse_is_a_warning(self):
        with open(f"{self.folder}/coarse.cpp", "w") as f:
            f.write('#include "kernbench/platform/platform.h"\n'
                    "int sc_main(int argc, char** argv) {\n"
                    "  sc_core::sc_set_time_resolution(1, argc > 2 ? sc_core::SC_US : sc_core::SC_NS);\n"
                    "  kernbench::Platform device(\"device\", std::string(argv[1]));\n"
                    "  return 0;\n"
                    "}\n")
        program = f"{self.folder}/coarse"
        self.compile_by_pkg_config(f"{self.folder}/coarse.cpp", program)
        system = f"{SOURCE}/examples/minimal/system.yaml"
        self.assertIn("Warning: /kernbench/resolution: the time resolution is 1 us", said(run(program, system, "us")))
        self.assertNotIn("/kernbench/resolution", said(run(program, system)))

    def test_installed_headers_include_only_installed_headers(self):
        headers = glob.glob(f"{self.prefix}/include/kernbench/**/*.h", recursive=True)
        self.assertGreater(len(headers), 40)
        for header in headers:
            with open(header) as text:
                for name in re.findall(r'#include "(.*)"', text.read()):
                    self.assertTrue(os.path.isfile(f"{self.prefix}/include/{name}"), f"{header} includes {name}")

    def test_nothing_installed_names_the_build_tree(self):
        for file in glob.glob(f"{self.prefix}/**/*", recursive=True):
            if os.path.isfile(file):
                with open(file, "rb") as content:
                    self.assertNotIn(BUILD.encode(), content.read(), file)

    def test_the_installed_program_finds_its_topologies(self):
        kernbench = f"{self.prefix}/bin/kernbench"
        listed = run(kernbench, "list", "topologies", cwd="/").stdout.split()
        self.assertIn(f"{self.prefix}/share/kernbench/topologies/small.yaml", listed)
        out = run(kernbench, "run", "--topology", "small", "--kernel", "vector_add", "--verify", cwd="/").stdout
        self.assertIn("verified", out)

    def refused(self, source, *options, env=None):
        done = self.configure(source, tempfile.mkdtemp(dir=self.folder), *options, check=False, env=env)
        self.assertNotEqual(done.returncode, 0)
        return said(done)

    def test_a_consumer_with_another_standard_is_told_the_remedy(self):
        text = self.refused(f"{SOURCE}/examples/minimal", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                            f"-DCMAKE_CXX_STANDARD={self.other_standard}")
        self.assertIn(f"CMAKE_CXX_STANDARD is {self.other_standard}, but the SystemC found was built with "
                      f"C++{self.standard} and links with no other: configure with "
                      f"-DCMAKE_CXX_STANDARD={self.standard} or leave it out.", text)

    def test_a_consumer_without_systemc_is_told_the_remedy(self):
        text = self.refused(f"{SOURCE}/examples/minimal", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DSYSTEMC_HOME=/nowhere")
        self.assertIn("SystemC was not found in SYSTEMC_HOME=/nowhere", text)

    def test_the_build_itself_tells_the_same(self):
        self.assertIn("links with no other: configure with", self.refused(SOURCE, f"-DCMAKE_CXX_STANDARD={self.other_standard}"))
        self.assertIn("SystemC was not found in SYSTEMC_HOME=/nowhere", self.refused(SOURCE, "-DSYSTEMC_HOME=/nowhere"))
        # Without pkg-config and without a package: like a machine without SystemC.
        text = self.refused(SOURCE, "-DPKG_CONFIG_EXECUTABLE=/bin/false", "-DCMAKE_DISABLE_FIND_PACKAGE_SystemCLanguage=ON",
                            env={"SYSTEMC_HOME": ""})
        self.assertIn("SystemC was not found: install it", text)

    def test_phase_2_alone_needs_no_systemc(self):
        source = f"{self.folder}/phase2_only"
        os.mkdir(source)
        with open(f"{source}/CMakeLists.txt", "w") as f:
            f.write("cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\n"
                    "find_package(kernbench 0.1 REQUIRED COMPONENTS phase2 kernel_api)\n"
                    "if(NOT TARGET kernbench::kernel_api OR TARGET SystemC::systemc)\nmessage(FATAL_ERROR no)\nendif()\n")
        self.configure(source, f"{source}/b", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DSYSTEMC_HOME=/nowhere")


if __name__ == "__main__":
    cli_support.skip_under_sanitizers("the examples are built as a user builds them, without")
    cli_support.main()
