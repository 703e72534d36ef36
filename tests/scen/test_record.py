#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""weft run --record, and bundles repeated: equal ones, others, broken and hostile ones, killed runs,
full disks. What live hosts send is in tests/live/test_record.py."""
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
TEXT = ("weft: 1\nprofile: %s\ntopology: {leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
        "workload: [{name: p, kind: permutation, from: 'h*', size: 200kB}]\n"
        "timeline: [{at: 20us, do: inject_drop, where: 'leaf0:p0', every: 10}]\n"
        "capture: [{at: 'leaf0:p0', file: leaf0.pcapng}]\n"
        "trace: [{what: queue_bytes, at: 'leaf0:p0.q3', on: change, file: queues.csv}]\n")
PROFILE = "weft: 1\nlinks: {'*': {rate: 25Gbps}}\n"


class Record(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="weft-record.")
        self.addCleanup(shutil.rmtree, self.dir)
        os.makedirs(self.path("profiles"))
        os.makedirs(self.path("elsewhere"))
        for name in ("profiles/slow.yaml", "elsewhere/slow.yaml"):
            self.write(name, PROFILE)
        self.write("s.yaml", TEXT % "slow")

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii") as f:
            f.write(text)

    def weft(self, *args, **more):
        done = subprocess.run([WEFT, *args], capture_output=True, text=True, timeout=100,
                              check=False, cwd=self.dir, **more)
        return done.returncode, done.stdout, done.stderr

    def record(self, name, *args, scenario="s.yaml"):
        code, out, err = self.weft("run", "--record", name, *args, scenario)
        self.assertEqual(code, 0, out + err)
        return out

    def repeat(self, name, *args):
        code, out, err = self.weft("run", "--json", "-", *args, name)
        return code, json.loads(out)["repeat"] if out else None, err

    def members(self, name):
        with tarfile.open(self.path(name)) as t:
            return {m.name.split("/", 1)[1]: t.extractfile(m).read() for m in t.getmembers()}

    def pack(self, name, members, top="x"):
        with tarfile.open(self.path(name), "w") as t:
            for m, data in members.items():
                info = tarfile.TarInfo(f"{top}/{m}")
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))

    def test_a_run_is_repeated_from_one_file(self):
        for name in ("a.tar", "a.tar.gz", "a.tar.zst"):
            with self.subTest(name):
                out = self.record(name, "--seed", "5", "--set", "workload.p.size=300kB")
                self.assertIn(f"recording: {name}, 0 stimuli", out)
                self.assertFalse(os.path.exists(self.path(name + ".part")))
                code, found, err = self.repeat(name)
                self.assertEqual(code, 0, err)
                self.assertTrue(found["equal"] and found["complete"])
                self.assertGreater(found["compared"], 100)
        members = self.members("a.tar")
        self.assertEqual(list(members), ["bundle.json", "scenario.yaml", "profiles/00-slow.yaml",
                                         "summary.json", "ingress.pcapng",
                                         "captures/00-leaf0.pcapng", "traces/00-queues.csv"])
        head = json.loads(members["bundle.json"])
        self.assertEqual((head["seed"], head["set"]), (5, ["workload.p.size=300kB"]))

    def test_each_of_many_captures_is_kept(self):
        at = [f"    - {{at: 'leaf{leaf}:p{port}', file: c{leaf}{port}{n}.pcapng}}\n"
              for leaf in range(2) for port in range(4) for n in range(9)]
        self.write("many.yaml", "weft: 1\ntopology: {leaves: 2, spines: 2, hosts_per_leaf: 2}\n"
                   "workload: [{name: p, kind: permutation, from: 'h*', size: 20kB}]\ncapture:\n"
                   + "".join(at))
        self.record("many.tar", scenario="many.yaml")
        kept = {m: data for m, data in self.members("many.tar").items() if m[:9] == "captures/"}
        self.assertEqual(len(kept), len(at))
        for name, data in kept.items():
            with open(self.path(name.split("-", 1)[1]), "rb") as f:
                self.assertEqual(f.read(), data, name)

    def test_nothing_but_the_bundle_is_needed(self):
        for profile in ("slow", "./elsewhere/slow.yaml", self.path("elsewhere/slow.yaml")):
            self.write("t.yaml", TEXT % profile)
            self.record("b.tar", scenario="t.yaml")
            os.remove(self.path("t.yaml"))
            hidden = self.path("hidden")
            os.mkdir(hidden)
            for name in ("profiles", "elsewhere"):
                os.rename(self.path(name), os.path.join(hidden, name))
            os.remove(self.path("leaf0.pcapng"))
            self.assertEqual(self.repeat("b.tar")[0], 0)
            self.assertFalse(os.path.exists(self.path("leaf0.pcapng")))
            self.assertEqual(self.repeat("b.tar", "--capture")[0], 0)
            self.assertTrue(os.path.exists(self.path("leaf0.pcapng")))
            for name in ("profiles", "elsewhere"):
                os.rename(os.path.join(hidden, name), self.path(name))
            os.rmdir(hidden)

    @unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
    def test_the_schemas_fit(self):
        self.record("c.tar")
        with open(os.path.join(SOURCE, "docs/schema/weft.bundle.1.json"), encoding="utf-8") as f:
            schema = json.load(f)
        head = json.loads(self.members("c.tar")["bundle.json"])
        jsonschema.validate(head, schema)
        for spoil in ({"state": "good"}, {"seed": -1}, {"payload": "some"}, {"set": [1]}):
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate({**head, **spoil}, schema)
        with open(os.path.join(SOURCE, "docs/schema/weft.run.1.json"), encoding="utf-8") as f:
            schema = json.load(f)
        _, out, _ = self.weft("run", "--json", "-", "c.tar")
        jsonschema.validate(json.loads(out), schema)

    def test_another_result_is_told(self):
        self.record("d.tar")
        members = self.members("d.tar")
        summary = json.loads(members["summary.json"])
        was = summary["fabric"]["delivered_frames"]
        summary["fabric"]["delivered_frames"] = was + 1
        summary["ports"][0]["rx_frames"] = 1
        members["summary.json"] = json.dumps(summary).encode()
        self.pack("e.tar", members)
        code, out, _ = self.weft("run", "e.tar")
        self.assertEqual(code, 4, out)
        self.assertIn(f"differs: fabric.delivered_frames: recorded {was + 1}, repeated {was}", out)
        self.assertRegex(out, r"NOT EQUAL: 2 of \d+ values differ")
        head = json.loads(members["bundle.json"])
        head["version"] = "0.0.1"
        members["bundle.json"] = json.dumps(head).encode()
        self.pack("f.tar", members)
        code, out, _ = self.weft("run", "f.tar")
        self.assertEqual(code, 1, out)
        self.assertIn("another version may give another result", out)

    def test_an_incomplete_recording_says_so(self):
        self.record("q.tar")
        members = self.members("q.tar")
        head = json.loads(members["bundle.json"])
        head.update(state="incomplete", incomplete_because=["the disk did not keep up"])
        members["bundle.json"] = json.dumps(head).encode()
        self.pack("r.tar", members)
        code, found, err = self.repeat("r.tar")
        self.assertEqual(code, 1, err)
        self.assertTrue(found["equal"])
        self.assertEqual((found["complete"], found["incomplete_because"]),
                         (False, "the disk did not keep up"))
        code, out, _ = self.weft("run", "r.tar")
        self.assertEqual(code, 1)
        self.assertIn("INCOMPLETE: the disk did not keep up", out)
        self.assertIn("though the recording is incomplete", out)

    def test_what_is_broken_is_refused(self):
        self.record("g.tar")
        good = self.members("g.tar")
        head = json.loads(good["bundle.json"])

        def changed(**more):
            return json.dumps({**head, **more}).encode()

        cases = {
            "no bundle.json": ({k: v for k, v in good.items() if k != "bundle.json"},
                               "there is no bundle.json in it"),
            "no log": ({k: v for k, v in good.items() if k != "ingress.pcapng"},
                       "there is no ingress.pcapng in the bundle"),
            "no scenario": ({k: v for k, v in good.items() if k != "scenario.yaml"},
                            "there is no scenario.yaml"),
            "no profile": ({k: v for k, v in good.items() if not k.startswith("profiles")},
                           "no profile 'slow' is there"),
            "later format": ({**good, "bundle.json": changed(schema="weft.bundle/2")},
                             "'weft.bundle/2', this weft reads weft.bundle/1"),
            "no seed": ({**good, "bundle.json": changed(seed="x")}, "seed"),
            "no json": ({**good, "bundle.json": b"{"}, "bundle.json in the bundle is broken: line"),
            "broken scenario": ({**good, "scenario.yaml": b"weft: 2\n"}, "scenario.yaml:1:7"),
            "no log in it": ({**good, "ingress.pcapng": b"x" * 500}, "ingress.pcapng"),
            "a capture as log": ({**good, "ingress.pcapng": good["captures/00-leaf0.pcapng"]},
                                 "no ingress log of weft"),
        }
        for name, (members, text) in cases.items():
            with self.subTest(name):
                self.pack("h.tar", members)
                code, _, err = self.weft("run", "h.tar")
                self.assertEqual(code, 2, err)
                self.assertIn(text, err)
        for options in (["--live"], ["--seed", "2"], ["--set", "seed=2"], ["--record", "z.tar"]):
            code, _, err = self.weft("run", *options, "g.tar")
            self.assertEqual(code, 2)
            self.assertIn(f"{options[0]} does not go with a bundle", err)

    def test_a_truncated_bundle_ends_in_an_error(self):
        self.record("i.tar")
        self.record("i.tar.zst")
        for name in ("i.tar", "i.tar.zst"):
            with open(self.path(name), "rb") as f:
                data = f.read()
            log = data.find(b"/ingress.pcapng")
            for n in (1, 300, 512, 513, 700, 1500, 3000, log + 600, log + 500):
                if n < 1 or log < 0 and n > len(data) // 20:  # only what is before the log's end
                    continue
                with open(self.path("j.tar"), "wb") as f:
                    f.write(data[:n])
                code, out, err = self.weft("run", "j.tar")
                self.assertEqual(code, 2, (name, n, out[-300:], err))
                self.assertTrue(err)

    def test_hostile_archives_write_nothing(self):
        self.record("k.tar")
        good = self.members("k.tar")
        before = sorted(os.listdir(self.dir))
        for evil in ("../../evil", "profiles/../../../evil", "/tmp/weft-evil", "profiles/" + "n" * 90):
            self.pack("l.tar", {evil: b"weft: 1\n", **good})
            self.weft("run", "l.tar")
            self.assertFalse(os.path.exists("/tmp/weft-evil"))
        with tarfile.open(self.path("l.tar"), "w") as t:
            for name, kind in (("bundle.json", tarfile.SYMTYPE), ("scenario.yaml", tarfile.LNKTYPE)):
                info = tarfile.TarInfo("x/" + name)
                info.type, info.linkname = kind, "/etc/passwd"
                t.addfile(info)
        code, _, err = self.weft("run", "l.tar")
        self.assertEqual(code, 2)
        self.assertIn("is no plain file", err)
        with tarfile.open(self.path("l.tar"), "w") as t:
            for _ in range(2):
                info = tarfile.TarInfo("x/bundle.json")
                info.size = 2
                t.addfile(info, io.BytesIO(b"{}"))
        self.assertIn("is twice", self.weft("run", "l.tar")[2])
        with tarfile.open(self.path("l.tar"), "w") as t:
            info = tarfile.TarInfo("x/bundle.json")
            info.size = 1 << 40
            with self.assertRaises(OSError):
                t.addfile(info, io.BytesIO(b"{}"))
        self.assertIn("too large", self.weft("run", "l.tar")[2])
        with tarfile.open(self.path("l.tar"), "w") as t:
            info = tarfile.TarInfo("x/of-a-later-weft")
            info.size = 1 << 40
            with self.assertRaises(OSError):
                t.addfile(info, io.BytesIO(b"{}"))
        code, _, err = self.weft("run", "l.tar")
        self.assertEqual(code, 2)
        self.assertIn("'of-a-later-weft' before the log is no part of a bundle", err)
        os.remove(self.path("l.tar"))
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_what_cannot_be_recorded_is_said(self):
        self.write("many.yaml", TEXT % "slow" + "repeat: {seeds: 3}\n")
        for args, code, text in (
                (["--record", "nowhere/m.tar", "s.yaml"], 3, "nowhere/m.tar.part cannot be made"),
                (["--record", "m.tar", "many.yaml"], 2, "records one run"),
                (["--record", "profiles", "s.yaml"], 3, "is no plain file"),
                (["--record", "m.tar", "--payload", "half", "s.yaml"], 2, "expected whole or cut")):
            got, _, err = self.weft("run", *args)
            self.assertEqual(got, code, err)
            self.assertIn(text, err)
        self.assertFalse([n for n in os.listdir(self.dir) if n.endswith(".part")])

    def begun(self, name):
        """The log's head is on the disk."""
        return os.path.exists(self.path(name)) and os.path.getsize(self.path(name)) > 0

    def test_a_killed_run_leaves_what_it_had(self):
        self.write("long.yaml", (TEXT % "slow").replace("200kB", "2GB"))
        with subprocess.Popen([WEFT, "run", "--quiet", "--record", "n.tar", "long.yaml"],
                              cwd=self.dir) as run:
            for _ in range(1000):
                if self.begun("n.tar.part/ingress.pcapng"):
                    break
                time.sleep(0.01)
            run.send_signal(signal.SIGKILL)
        self.assertFalse(os.path.exists(self.path("n.tar")))
        code, _, err = self.weft("run", "--record", "n.tar", "s.yaml")
        self.assertEqual(code, 3)
        self.assertIn("'weft run n.tar.part' repeats what it recorded", err)
        code, out, err = self.weft("run", "n.tar.part")
        self.assertEqual(code, 1, out + err)
        self.assertIn("INCOMPLETE: the recorded run was killed before its end", out)

    def test_an_interrupted_run_is_repeated_to_its_end(self):
        self.write("long.yaml", (TEXT % "slow").replace("200kB", "2GB"))
        with subprocess.Popen([WEFT, "run", "--no-capture", "--record", "o.tar", "long.yaml"],
                              cwd=self.dir, stdout=subprocess.PIPE, text=True) as run:
            for _ in range(1000):
                if self.begun("o.tar.part/ingress.pcapng"):
                    break
                time.sleep(0.01)
            time.sleep(0.3)
            run.send_signal(signal.SIGINT)
            out = run.communicate()[0]
        self.assertEqual(run.returncode, 130, out)
        self.assertRegex(out, r"stopped at \d")
        code, found, err = self.repeat("o.tar")
        self.assertEqual(code, 0, err)
        self.assertTrue(found["equal"])

    def test_a_full_disk_leaves_the_parts(self):
        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 1000, largest + 1000))

        self.record("q.tar", "--no-capture")
        largest = max(map(len, self.members("q.tar").values()))
        code, _, err = self.weft("run", "--no-capture", "--record", "p.tar", "s.yaml",
                                 preexec_fn=small)
        self.assertEqual(code, 3, err)
        self.assertIn("p.tar: the bundle cannot be written: ", err)
        self.assertIn("its parts are in p.tar.part", err)
        self.assertFalse(os.path.exists(self.path("p.tar")))
        self.assertFalse(os.path.exists(self.path("p.tar.tmp")))
        self.assertEqual(self.repeat("p.tar.part")[0], 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
