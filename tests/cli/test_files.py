#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every command with files that are missing, of the wrong kind, cut or not ours, disks that are full,
standard streams that are closed, and signals in the middle: the exit status of docs, an error that
names the file, and nothing half-written that is not told."""
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
SCENARIO = os.path.join(SOURCE, "scenarios", "two-hosts.yaml")
LONG = """weft: 1
name: long
topology: {leaves: 2, spines: 2, hosts_per_leaf: 8}
workload: [{name: p, kind: permutation, from: '*', size: 2GB}]
"""
LIVE = """weft: 1
name: live
topology: {leaves: 1, spines: 0, hosts_per_leaf: 2}
links: {'*': {rate: 100Mbps}}
workload: [{name: w, from: h0, to: h1, size: 2GB}]
"""
NOBODY = 65534


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.made)
        os.chmod(cls.made, 0o755)
        done = subprocess.run([WEFT, "run", "--quiet", "--json", "r.json", "--trace", "t.csv", "--why",
                               "w.jsonl", "--record", "b.tar", SCENARIO], cwd=cls.made, check=False)
        assert done.returncode == 0
        shutil.copy(os.path.join(SOURCE, "captures", "rocev2-sends.pcap"), f"{cls.made}/c.pcap")
        shutil.copy(os.path.join(SOURCE, "tests", "data", "config_db.json"), cls.made)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        os.chmod(self.dir, 0o755)

    def path(self, name, data=None):
        path = os.path.join(self.dir, name)
        if data is not None:
            with open(path, "wb") as f:
                f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def made_path(self, name):
        return os.path.join(self.made, name)

    def weft(self, *args, **more):
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                "cwd": self.dir, "timeout": 60, **more}
        done = subprocess.run([WEFT, *args], check=False, **more)
        return done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode()

    def assert_error(self, args, code, *words, **more):
        got, _, err = self.weft(*args, **more)
        self.assertEqual(got, code, (args, err))
        for word in words:
            self.assertIn(word, err, args)
        return err

    def reads(self, path):
        """Every command that reads a file, reading this one."""
        ok, capture = SCENARIO, self.made_path("c.pcap")
        result = self.made_path("r.json")
        return [["run", path], ["check", path], ["check", "--explain", path], ["analyze", path],
                ["analyze", capture, path], ["diff", result, path], ["diff", path, result],
                ["plot", path], ["sweep", "--out", "sweep", path], ["show", "ports", "--of", path],
                ["qos", "import", path], ["why", path, "drops"], ["why", path + "#1"],
                ["replay", capture, path], ["replay", path, ok], ["lab", "up", path]]


class Inputs(Case):
    def test_missing(self):
        for args in self.reads(self.path("none")):
            self.assert_error(args, 2, "none", "No such file")

    def test_folders(self):
        os.mkdir(self.path("folder"))
        for args in self.reads(self.path("folder")):
            what = "folder/runs.csv" if args[0] == "diff" else \
                "no folder of weft sweep" if args[0] == "plot" else "Is a directory"
            self.assert_error(args, 2, "folder", what)

    def test_empty_and_garbage(self):
        for name, data in (("empty", b""), ("blank", b"\n"), ("garbage", b"garbage\n"),
                           ("binary", bytes(range(256)) * 9), ("brace", b"{"), ("null", bytes(99))):
            path = self.path(name, data)
            for args in self.reads(path):
                err = self.assert_error(args, 2, path)
                self.assertLess(len(err), 1000)

    def test_of_others(self):
        """As a user that may not read it."""
        if os.getuid():
            self.skipTest("not root: nobody else to be")
        path = self.path("mine", "weft: 1\n")
        os.chmod(path, 0o600)
        if subprocess.run(["test", "-x", WEFT], user=NOBODY, group=NOBODY, check=False).returncode:
            self.skipTest("nobody may not run the program here")
        for args in self.reads(path):
            self.assert_error(args, 2, "mine", "Permission denied", user=NOBODY, group=NOBODY)
        for args in (["run", "--json", "x", SCENARIO], ["run", "--record", "x", SCENARIO],
                     ["run", "--trace", "x", SCENARIO], ["plot", self.made_path("t.csv")],
                     ["sweep", "--out", "x", SCENARIO],
                     ["qos", "import", "-o", "x", self.made_path("config_db.json")],
                     ["analyze", "--figures", "x", self.made_path("c.pcap")]):
            self.assert_error(args, 3, "Permission denied", user=NOBODY, group=NOBODY)

    def test_two_users(self):
        """What one user's run leaves in /tmp is in nobody's way."""
        if os.getuid() or subprocess.run(["test", "-x", WEFT], user=NOBODY, group=NOBODY,
                                         check=False).returncode:
            self.skipTest("no other users to be")
        env = {k: v for k, v in os.environ.items() if not k.endswith("RUNTIME_DIR")}
        for user in (NOBODY, NOBODY - 1, NOBODY):
            code, _, err = self.weft("run", "--quiet", SCENARIO, user=user, group=user, env=env)
            self.assertEqual((code, err), (0, ""), user)
        for user in (NOBODY, NOBODY - 1):
            shutil.rmtree(f"/tmp/weft-{user}.eal", ignore_errors=True)

    def test_captures_that_are_cut(self):
        """Wherever they end: what is whole is told, and that the rest is not there."""
        for name, whole in (("rocev2-4k.pcap", (24,)), ("fmt-be.pcapng", (28, 68))):
            with open(os.path.join(SOURCE, "captures", name), "rb") as f:
                data = f.read()
            for end in range(0, min(len(data), 130)):
                path = self.path(f"{end}.cut", data[:end])
                code, out, err = self.weft("analyze", path)
                self.assertEqual(code, 0 if end in whole else 2, (name, end, err))
                if code:
                    self.assertIn(path, err)
                    self.assertRegex(err, "is cut|bytes long|empty")
                else:
                    self.assertIn("no RoCE packet", out)

    def test_compressed_captures_that_are_cut(self):
        for tool in (["gzip", "-c"], ["zstd", "-qc"], ["xz", "-c"]):
            if not shutil.which(tool[0]):
                continue
            data = subprocess.run([*tool, self.made_path("c.pcap")], check=True,
                                  stdout=subprocess.PIPE).stdout
            for end in (len(data) // 4, len(data) // 2, len(data) - 9, len(data) - 1):
                err = self.assert_error(["analyze", self.path("cut", data[:end])], 2, "cut")
                self.assertRegex(err, "cannot be unpacked|compressed is cut", (tool, end))

    def test_records_that_are_cut(self):
        for name, args in (("r.json", ["show", "ports", "--of"]), ("t.csv", ["plot", "--out", "p"]),
                           ("b.tar", ["run"])):
            with open(self.made_path(name), "rb") as f:
                data = f.read()
            middle = data.index(b"\n", 4000) - 1 if name == "t.csv" else 4000
            while name == "t.csv" and data[middle:middle + 1] != b",":
                middle -= 1  # a line of three cells
            for end in (1, 100, middle):
                self.assert_error([*args, self.path("cut", data[:end])], 2, "cut")

    def test_a_trace_of_one_instant(self):
        """A share of no time is no figure, and no mistake of gnuplot's."""
        trace = self.path("t.csv", "time_ps,object,series,value\n0,a:p0.q3,queue_bytes,7\n")
        code, out, err = self.weft("plot", "--out", ".", trace)
        if code != 3 or "not installed" not in err:
            self.assertEqual((code, out), (0, "./series_queue_bytes.svg\n"), err)
        self.assertFalse(os.path.exists(self.path("cdf_queue.csv")))

    def test_a_record_of_decisions_that_is_cut(self):
        """The run was killed: what it had recorded is told."""
        with open(self.made_path("w.jsonl"), "rb") as f:
            data = f.read()
        end = data.index(b"\n", len(data) // 2) - 5
        code, out, err = self.weft("why", self.path("cut", data[:end]), "flow.w", "packet", "0")
        self.assertEqual(code, 0)
        self.assertIn("ends within a line", err)
        whole = self.weft("why", self.made_path("w.jsonl"), "flow.w", "packet", "0")
        self.assertEqual((whole[0], whole[2]), (0, ""))
        self.assertEqual(out, whole[1])


class Outputs(Case):
    def writes(self, where):
        """(command, the file it makes there) of every one that writes a file of one piece."""
        made = os.path.join(where, "made")
        return [(["run", "--quiet", "--json", made, SCENARIO], made),
                (["run", "--quiet", "--junit", made, SCENARIO], made),
                (["qos", "import", "-o", made, self.made_path("config_db.json")], made)]

    def writes_more(self, where):
        at = os.path.join(where, "made")
        return [["run", "--quiet", "--trace", at, SCENARIO], ["run", "--quiet", "--why", at, SCENARIO],
                ["run", "--quiet", "--record", at, SCENARIO],
                ["sweep", "--quiet", "--out", at, SCENARIO],
                ["plot", "--quiet", "--out", at, self.made_path("t.csv")],
                ["analyze", "--figures", at, self.made_path("c.pcap")],
                ["replay", "--map", "auto", "--capture", f"*={at}", self.made_path("c.pcap"), SCENARIO]]

    def test_no_such_folder(self):
        for args in [a for a, _ in self.writes("none")] + self.writes_more("none"):
            self.assert_error(args, 3, "none/made", "No such file")

    def test_a_folder_in_its_place(self):
        os.mkdir(self.path("made"))
        for args, _ in self.writes(self.dir):
            self.assert_error(args, 3, "made", "Is a directory")

    def test_a_full_disk(self):
        """A limit of the size of files is what needs no root."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        for args, made in self.writes(self.dir):
            self.assert_error(args, 3, made, "too large", "is removed", preexec_fn=limit)
            self.assertFalse(os.path.exists(made), args)
        for args in self.writes_more(self.dir):
            self.assert_error(args, 3, "made", preexec_fn=limit)
            subprocess.run(["rm", "-rf", self.path("made"), self.path("made.part")], check=True)
        for args, _ in self.writes("/dev"):  # a device is not removed
            args = [a.replace("/dev/made", "/dev/full") for a in args]
            self.assert_error(args, 3, "/dev/full", "No space left")
            self.assertTrue(os.path.exists("/dev/full"))

    SAYS = (["run", SCENARIO], ["run", "--json", "-", SCENARIO], ["check", SCENARIO],
            ["check", "--reference"], ["--help"], ["run", "--help"], ["--version"])

    def test_standard_output(self):
        says = [*self.SAYS, ["analyze", self.made_path("c.pcap")],
                ["show", "ports", "--of", self.made_path("r.json")],
                ["why", self.made_path("w.jsonl"), "flow.w", "packet", "0"]]
        with open("/dev/full", "wb") as full:
            for args in says:
                self.assert_error(args, 3, "cannot write to the standard output", stdout=full)
        for args in says:
            self.assert_error(args, 3, "cannot write to the standard output", stdout=None,
                              preexec_fn=lambda: os.close(1))

    def test_a_reader_that_leaves(self):
        """Like `| head -1`: killed by SIGPIPE or told, and never wrong in silence."""
        for args in (["check", "--reference"], ["run", "--json", "-", SCENARIO]):
            proc = subprocess.Popen([WEFT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            proc.stdout.read(1)
            proc.stdout.close()
            err = proc.stderr.read().decode()
            proc.stderr.close()
            self.assertIn(proc.wait(), (-signal.SIGPIPE, 3, 0), err)


class Signals(Case):
    def start(self, *args):
        # the tests themselves may run with it ignored, by nohup, and weft keeps to that
        proc = subprocess.Popen([WEFT, *args], cwd=self.dir, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        self.addCleanup(self.end, proc)
        return proc

    @staticmethod
    def end(proc):
        if proc.poll() is None:
            proc.kill()
            proc.wait()
        proc.stdout.close()
        proc.stderr.close()

    def test_interrupted(self):
        """The summary, 130, and files that are whole."""
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            proc = self.start("run", "--json", "r.json", "--trace", "t.csv",
                              self.path("long.yaml", LONG))
            self.wait_for("t.csv", proc)
            proc.send_signal(sig)
            out, err = proc.communicate(timeout=60)
            self.assertEqual(proc.returncode, 130, (sig, err))
            self.assertIn("stopped before its end", out.decode())
            with open(self.path("r.json"), encoding="utf-8") as f:
                self.assertEqual(json.load(f)["end"], "stopped")
            with open(self.path("t.csv"), "rb") as f:
                self.assertTrue(f.read().endswith(b"\n"))
            os.unlink(self.path("t.csv"))

    def wait_for(self, name, proc):
        end = time.monotonic() + 60
        while not (os.path.exists(self.path(name)) and os.path.getsize(self.path(name))):
            self.assertIsNone(proc.poll(), "it ended")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_nohup(self):
        """Who asked not to be hung up is not."""
        proc = subprocess.Popen(["nohup", WEFT, "run", "--trace", "t.csv",
                                 self.path("long.yaml", LONG)], cwd=self.dir,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        self.addCleanup(self.end, proc)
        self.wait_for("t.csv", proc)
        proc.send_signal(signal.SIGHUP)
        proc.send_signal(0)
        time.sleep(0.3)
        self.assertIsNone(proc.poll())
        proc.send_signal(signal.SIGINT)
        proc.communicate(timeout=60)
        self.assertEqual(proc.returncode, 130)

    def test_a_second_instance(self):
        env = {**os.environ, "XDG_RUNTIME_DIR": self.dir}
        path = self.path("live.yaml", LIVE)
        first = subprocess.Popen([WEFT, "run", "--live", path], cwd=self.dir, env=env,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(self.end, first)
        end = time.monotonic() + 60
        while self.weft("show", env=env)[0]:
            self.assertIsNone(first.poll())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assert_error(["run", "--live", path], 3, "'live' is running already",
                          str(first.pid), env=env)
        self.assert_error(["run", "--live", "-i", "a/b", path], 2, "'a/b'", env=env)
        self.assert_error(["show", "-i", "other"], 3, "no instance 'other' runs; there is: live",
                          env=env)
        self.assertEqual(self.weft("run", "--live", "--quiet", "-i", "two", SCENARIO, env=env)[0], 0)
        first.kill()  # and what it leaves is in nobody's way
        first.wait()
        self.assertIn("dead", self.weft("lab", "status", env=env)[1])
        self.assertEqual(self.weft("run", "--live", "--quiet", "-i", "live", SCENARIO, env=env)[0], 0)
        self.assertEqual(self.weft("lab", "status", env=env)[1], "nothing runs\n")


if __name__ == "__main__":
    unittest.main()
