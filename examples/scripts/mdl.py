"""Measures programs from Python, by the requests in JSON of docs/scripting.md.

    with Program.run(["gzip", "-k", "file"], "counts") as program:
        program.wait(), print(program.report()["functions"])
"""
import json, os, socket, subprocess, sys, tempfile, time

MDL = os.environ.get("MDL", "mdl")  # the command

class MdlError(Exception): """What mdl or the agent refuses, and what to do."""

class Program:
    def __init__(self, what, *words):
        self.directory = tempfile.TemporaryDirectory(prefix="mdl-script-")
        self.session, self.attached = self.directory.name, "--pid" in words
        self.process = subprocess.Popen([MDL, "collect", what, "-o", self.session, *words])
        self.wait = self.process.wait  # for the program's end; returns its exit status

    @classmethod
    def run(cls, command, what="latency", *options):
        """Starts a program, and returns when its probes are in place or it has ended."""
        program = cls(what, *options, "--", *command)
        while program.process.poll() is None:
            try:
                program.ask("metrics")
                break
            except (OSError, MdlError):
                time.sleep(0.01)
        return program

    @classmethod
    def attach(cls, pid, what="latency", *options):
        program = cls(what, *options, "--pid", str(pid))
        if program.wait() != 0:
            raise MdlError("process %d cannot be measured (mdl doctor %d explains)" % (pid, pid))
        return program

    def ask(self, do, **members):
        """Sends one request to the agent; each has its own connection."""
        with socket.socket(socket.AF_UNIX) as agent:
            agent.connect(os.path.join(self.session, "control"))
            agent.sendall(json.dumps({"do": do, **members}).encode() + b"\n")
            line = agent.makefile(encoding="utf-8").readline()
        answer = json.loads(line or '{"error": "the program has ended"}')
        if "error" in answer:
            raise MdlError("%s (%s)" % (answer["error"], answer.get("remedy", "its agent.log says more")))
        return answer["ok"]

    def report(self):
        """All that was measured so far: docs/glossary.md explains the keys."""
        return json.loads(subprocess.check_output([MDL, "report", "--format", "json", self.session]))

    def __enter__(self): return self
    def __exit__(self, *_):
        if self.attached:
            self.ask("detach")
        self.process.terminate()
        self.wait()
        self.directory.cleanup()


if __name__ == "__main__":
    with Program.run(sys.argv[1:], "counts") as program:
        program.wait()
        for function in sorted(program.report()["functions"], key=lambda each: -each["calls"])[:20]:
            print("%12d  %s" % (function["calls"], function["name"]))
