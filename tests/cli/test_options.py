#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a stranger meets it: every command reads its options alike, its errors name
the option, what was found and what was expected; and nothing that a file or a peer says reaches the
terminal as anything but text."""
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "analyze"))

import captures  # noqa: E402  (found by the path above)

COMMANDS = (["lab", "up"], ["lab", "down"], ["lab", "status"], ["exec"], ["show"], ["clear"], ["inject"], ["run"],
            ["check"], ["replay"], ["analyze"], ["diff"], ["plot"], ["sweep"], ["qos", "import"],
            ["qos", "mlnx"], ["why"])
EVIL = "\x1b[31mred\x1b]0;title\x07\nverdict    all is well"
# what may reach a terminal: no C0 but tab and new line, no DEL, no C1
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def weft(*args, **more):
    done = subprocess.run([WEFT, *args], check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def options_of(command):
    """(name, has a value) of each option that --help lists."""
    text = weft(*command, "--help")[1]
    return re.findall(r"^  (?:-\w, )?--([a-z][\w-]*)( \S+)?", text, re.M)


class Options(unittest.TestCase):
    def assert_refused(self, args, *words):
        code, out, err = weft(*args)
        self.assertEqual((code, out), (2, ""), args)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertTrue(err.startswith(f"weft {args[0]}: "), err)
        for word in words:
            self.assertIn(word, err, args)

    def test_help_is_every_commands(self):
        for command in COMMANDS:
            code, out, err = weft(*command, "--help")
            self.assertEqual((code, err), (0, ""), command)
            self.assertTrue(out.startswith("usage: weft "), command)
            self.assertLessEqual(max(len(line) for line in out.splitlines()), 100, command)
            self.assertEqual(weft(*command, "-h")[1], out)

    def test_unknown_options(self):
        for command in COMMANDS:
            self.assert_refused([*command, "--gibtesnicht"], "unknown option '--gibtesnicht'")
            self.assert_refused([*command, "-Z"], "unknown option '-Z'")
            for name, _ in options_of(command):
                if len(name) > 3:
                    self.assert_refused([*command, f"--{name[1]}{name[0]}{name[2:]}"],
                                        f"did you mean '--{name}'?")

    def test_values(self):
        seen = 0
        for command in COMMANDS:
            for name, value in options_of(command):
                seen += 1
                if not value:
                    self.assert_refused([*command, f"--{name}=x"], f"--{name} has no value, found 'x'")
                    continue
                value = value.strip()
                self.assert_refused([*command, f"--{name}"], f"--{name} needs a value: {value}")
                self.assert_refused([*command, f"--{name}", ""],
                                    f"--{name}: the value is empty, expected {value}")
                self.assert_refused([*command, f"--{name}", "--help"],
                                    f"--{name} needs a value: {value}; found the option '--help'")
        self.assertGreater(seen, 80)

    def test_wrong_values_name_the_option(self):
        for args, *words in (
                (["analyze", "--max-findings", "x"], "--max-findings 'x'", "1 to 16777216"),
                (["analyze", "--max-streams", "1"], "--max-streams '1'", "2 to 16777216"),
                (["analyze", "--stall", "5"], "--stall", "'5' has no unit"),
                (["analyze", "--stall", "0ms"], "--stall '0ms'", "from 1ps"),
                (["analyze", "--nic", "zzz"], "--nic 'zzz'", "generic, cx4", "or thor2"),
                (["analyze", "--nic", "cx"], "did you mean 'cx"),
                (["analyze", "--point", "a"], "--point 'a'", "NAME=FILE"),
                (["analyze", "--point", "=a"], "--point '=a'", "NAME=FILE"),
                (["analyze", "--point", "a=,"], "--point 'a=,'", "expected a file"),
                (["analyze", "--point", "a=x", "--point", "a=y"], "--point 'a=y'",
                 "'a' was given before"),
                (["run", "--lcores", "0", "x"], "--lcores '0'", "1 to"),
                (["check", "--lcores", "many", "x"], "--lcores 'many'", "1 to"),
                (["run", "--seed", "-1", "x"], "--seed '-1'", "whole number"),
                (["replay", "--seed", "1x", "a", "b"], "--seed '1x'", "whole number"),
                (["sweep", "--seed", "1.5", "a"], "--seed '1.5'", "whole number"),
                (["sweep", "--jobs", "0", "a"], "--jobs '0'", "1 to"),
                (["run", "--payload", "cat", "x"], "--payload 'cat'", "whole or cut",
                 "did you mean 'cut'"),
                (["replay", "--time", "scaled:0", "a", "b"], "--time scaled:0"),
                (["replay", "--time", "scaled:x", "a", "b"], "--time scaled:x", "not a fraction"),
                (["replay", "--truncated", "pat", "a", "b"], "--truncated 'pat'", "pad or skip"),
                (["exec", "-t", "5", "h"], "--timeout", "'5' has no unit"),
                (["exec", "-e", "x", "h"], "--env 'x'", "NAME=VALUE"),
                (["qos", "mlnx", "h", "--trust", "port"], "--trust 'port'", "dscp or pcp"),
                (["qos", "mlnx", "h", "--pfc", "2"], "--pfc '2'", "0 to 1"),
                (["inject", "drop", "--priority", "8"], "--priority 8", "0 to 7"),
                (["inject", "drop", "--probability", "x"], "--probability x")):
            self.assert_refused(args, *words)

    def test_forms(self):
        """--name=VALUE, -nVALUE, the beginning of a name, options behind operands, and --."""
        for args in (["diff", "a", "b", "--json"], ["diff", "--js", "a", "b"],
                     ["diff", "--", "a", "b"]):
            self.assertIn("a: ", weft(*args)[2], args)
        self.assertIn("--json: cannot", weft("diff", "--", "--json", "b")[2])
        self.assertIn("'eins'", weft("show", "--inst=eins")[2])
        self.assertIn("'eins'", weft("show", "-ieins")[2])
        self.assertIn("'eins'", weft("show", "status", "-i", "eins")[2])
        self.assert_refused(["analyze", "--max", "5"], "unknown option '--max'")  # of two

    def test_operands(self):
        for args, word in ((["run"], "no scenario"), (["run", "a", "b"], "one scenario"),
                           (["check"], "no scenario"), (["analyze"], "expected captures"),
                           (["diff", "a"], "two results"), (["replay", "a"], "CAPTURE and SCENARIO"),
                           (["sweep", "--out", "x"], "no scenario"), (["plot"], "nothing to draw"),
                           (["why"], "no record"), (["qos"], "import or mlnx"),
                           (["qos", "mlnx"], "one host"), (["qos", "import"], "config_db.json"),
                           (["lab"], "'up'"), (["lab", "upp"], "'upp'"), (["exec"], "no host"),
                           (["show", "potrs"], "did you mean 'ports'"), (["clear", "x"], "'x' is no"),
                           (["inject", "drpo"], "did you mean 'drop'"), (["rin"], "'run'")):
            code, out, err = weft(*args)
            self.assertEqual((code, out), (2, ""), args)
            self.assertIn(word, err)


class Terminal(unittest.TestCase):
    """What others wrote, shown by every command that shows such."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def assert_plain(self, args, *want):
        """Through pipes, and on a terminal. The lines that are forged don't stand alone either."""
        _, out, err = weft(*args)
        control, terminal = pty.openpty()
        proc = subprocess.Popen([WEFT, *args], stdin=subprocess.DEVNULL, stdout=terminal,
                                stderr=terminal)
        os.close(terminal)
        seen = b""
        while True:
            try:
                piece = os.read(control, 65536)
            except OSError:  # the other side has closed
                break
            if not piece:
                break
            seen += piece
        os.close(control)
        proc.wait(timeout=60)
        seen = seen.decode().replace("\r\n", "\n")
        for text in (out, err, seen):
            self.assertIsNone(HARMFUL.search(text), (args, text))
            self.assertNotIn("verdict    all is well", text.splitlines(), args)
        for word in want:
            self.assertIn(word, out + err, args)
            self.assertIn(word, seen, args)

    def evil_capture(self, comment=None):
        """A pcapng file whose interface bears an evil name."""
        frame = bytes(12) + b"\x88\xb5" + bytes(50)
        data = captures.pcapng([captures.Frame(1000, frame)])
        old = captures.pcapng([])[28:]  # its interface block alone
        name = EVIL.encode()[:60]

        def option(code, text):
            return code.to_bytes(2, "little") + len(text).to_bytes(2, "little") + text + \
                bytes(-len(text) % 4)
        body = old[8:16] + option(2, name) + option(9, b"\x09") + bytes(4)
        length = (len(body) + 12).to_bytes(4, "little")
        return data[:28] + b"\x01\0\0\0" + length + body + length + data[28 + len(old):]

    def test_captures(self):
        capture = self.path("a.pcapng", self.evil_capture())
        self.assert_plain(["analyze", capture], "point      ?[31mred?]0;title??verdict")
        self.assert_plain(["replay", "--interface", "x", capture,
                           os.path.join(SOURCE, "scenarios/incast.yaml")])
        self.assert_plain(["why", capture + "#1"])

    def test_names_of_files(self):
        name = os.path.join(self.dir, EVIL.replace("/", "_"))
        for command in (["run"], ["check"], ["analyze"], ["plot"], ["sweep", "--out", "x"],
                        ["show", "ports", "--of"], ["qos", "import"]):
            self.assert_plain([*command, name], "?[31mred")
        self.assert_plain(["diff", name, name], "?[31mred")
        self.assert_plain(["why", name, "drops"], "?[31mred")
        self.assert_plain(["replay", name, name], "?[31mred")
        self.assert_plain([EVIL], "?[31mred")
        self.assert_plain(["run", "--" + EVIL], "?[31mred")
        self.assert_plain(["exec", EVIL, "--", "x"])
        self.assert_plain(["lab", "up", name], "?[31mred")
        self.assert_plain(["lab", EVIL], "?[31mred")
        self.assert_plain(["qos", "mlnx", EVIL], "?[31mred")

    def test_results(self):
        """weft show and weft diff read what anybody may have written."""
        rows = [{"name": EVIL, "peer": EVIL, "system": EVIL, "chassis": "\u009b2J", "rx_frames": 7}]
        run = {"schema": "weft.run/1", "time_ps": 1, "ports": rows, "lldp": rows, "flows": rows,
               "verdict": EVIL, EVIL: 1}
        a = self.path("a.json", json.dumps(run))
        b = self.path("b.json", json.dumps({**run, "verdict": "passed", "time_ps": 2}))
        for view in (["ports"], ["lldp"], ["flows"], ["interfaces", "counters"]):
            self.assert_plain(["show", *view, "--of", a])
        self.assert_plain(["show", "ports", "--of", a], "?[31mred?]0;title??verdict")
        self.assert_plain(["show", "ports", "--of", a, "--at", "nobody"], "?[31mred")
        self.assert_plain(["diff", a, b])
        self.assert_plain(["plot", "--out", self.dir, a])

    def test_records_and_tables(self):
        head = {"schema": "weft.why/1", "flows": [{"name": EVIL, "hash": 1, "dqpn": 2}]}
        record = self.path("why.jsonl", json.dumps(head) + "\n")
        self.assert_plain(["why", record, "flow.x", "slowest"])
        self.assert_plain(["why", record, "drops"])
        table = self.path("t.csv", f"# x\n{EVIL[:8]},b\n1,2\n")
        self.assert_plain(["plot", "--out", self.dir, table])
        self.assert_plain(["qos", "import", self.path("c.json", json.dumps(
            {"PORT": {EVIL: {"speed": EVIL}}, EVIL: {EVIL: EVIL}}))])

    def test_scenarios(self):
        text = json.dumps(EVIL)
        scenario = self.path("s.yaml", f"weft: 1\nname: {text}\ndescription: {text}\n{text}: 3\n"
                             f"topology: {{kind: {text}}}\n")
        for option in ([], ["--explain"], ["--canonical"]):
            self.assert_plain(["check", *option, scenario], "?[31mred")
        self.assert_plain(["run", scenario], "?[31mred")


if __name__ == "__main__":
    unittest.main()
