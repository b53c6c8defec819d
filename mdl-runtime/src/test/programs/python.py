"""What Python does with processes, signals and faults."""

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading


def python(code):
    return [sys.executable, "-c", code]


def show(what, done):
    print(what, done.returncode, repr(done.stdout), repr(done.stderr), flush=True)


def run(what, code, **keywords):
    show(what, subprocess.run(python(code), capture_output=True, text=True, timeout=60, **keywords))


def subprocesses():
    run("input", "print(input()[::-1])", input="abc\n")
    run("status", "raise SystemExit(7)")
    run("descriptors", "import os; print(sorted(os.listdir('/proc/self/fd'), key=int))")
    run("mask", "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))")
    run("thread", "import threading; threading.Thread(target=print, args=('in a thread',)).start()")
    run("before exec", "import os; print(os.getcwd())", preexec_fn=lambda: os.chdir("/"))
    run("environment", "import os; print(sorted(os.environ))", env={"ONE": "1"})
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGUSR2, signal.SIGQUIT):
        run(number.name, f"import os, signal; signal.signal({number:d}, signal.SIG_DFL); os.kill(os.getpid(), {number:d})")
    try:
        subprocess.run(["sleep", "60"], timeout=0.2)
    except subprocess.TimeoutExpired as e:
        print(type(e))
    writer = subprocess.Popen(python("print('a line\\n' * 100000)"), stdout=subprocess.PIPE)
    reader = subprocess.Popen(["wc"], stdin=writer.stdout, stdout=subprocess.PIPE, text=True)
    writer.stdout.close()
    print(reader.communicate()[0].split(), writer.wait(), reader.returncode)
    writer = subprocess.Popen(python("while True: print('a line')"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(writer.stdout.readline())
    writer.stdout.close()
    # 120 when something is left to be written at the end, which is a matter of time.
    print(writer.stderr.read().splitlines()[-1], writer.wait() in (1, 120))
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 5"], os.environ)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(os.waitstatus_to_exitcode(os.system("kill -KILL $$")))
    with os.popen("echo popen") as pipe:
        print(pipe.read())


def square(number):
    return number * number


def add(total, times):
    for _ in range(times):
        with total.get_lock():
            total.value += 1


def give(queue, count):
    queue.put(list(range(count)))


def sleep():
    signal.pause()


def fault():
    os.kill(os.getpid(), signal.SIGSEGV)


def multiprocesses():
    fork = multiprocessing.get_context("fork")
    with fork.Pool(4) as pool:
        print(sum(pool.map(square, range(1000))))
    total = fork.Value("i", 0)
    queue = fork.Queue()
    workers = [fork.Process(target=add, args=(total, 1000)) for _ in range(4)]
    workers += [fork.Process(target=give, args=(queue, 10000))]
    workers += [fork.Process(target=sys.exit, args=(status,)) for status in range(3)]
    for worker in workers:
        worker.start()
    print(len(queue.get()))
    for worker in workers:
        worker.join()
    print(total.value, [worker.exitcode for worker in workers])
    for target, end in ((sleep, fork.Process.terminate), (sleep, fork.Process.kill), (fault, lambda process: None)):
        worker = fork.Process(target=target)
        worker.start()
        end(worker)
        worker.join()
        print(worker.exitcode)
    pid = os.fork()
    if pid == 0:
        thread = threading.Thread(target=os._exit, args=(9,))
        thread.start()
        thread.join()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def faults():
    before = "import faulthandler, os, signal, threading\n"
    run(
        "dump on a signal",
        before
        + "faulthandler.register(signal.SIGUSR1)\n"
        + "go = threading.Event()\n"
        + "thread = threading.Thread(target=go.wait)\n"
        + "thread.start()\n"
        + "os.kill(os.getpid(), signal.SIGUSR1)\n"
        + "go.set()\n"
        + "thread.join()\n"
        + "print('goes on')",
    )
    run(
        "chained",
        before
        + "signal.signal(signal.SIGUSR1, lambda number, frame: print('chained'))\n"
        + "faulthandler.register(signal.SIGUSR1, all_threads=False, chain=True)\n"
        + "os.kill(os.getpid(), signal.SIGUSR1)",
    )
    run("later", before + "faulthandler.dump_traceback_later(0.2, exit=True)\nsignal.pause()")
    for how in ("faulthandler._sigsegv()", "faulthandler._sigfpe()", "faulthandler._sigabrt()", "os.abort()",
                "faulthandler._stack_overflow()", "faulthandler._read_null()",
                "os.kill(os.getpid(), signal.SIGBUS)", "os.kill(os.getpid(), signal.SIGILL)"):
        run(how, before + how)
        run(how + " with a dump", before + "faulthandler.enable()\n" + how)


def interrupts():
    for what, code in (
        ("caught", "try:\n  print('ready', flush=True)\n  while True: signal.pause()\nexcept KeyboardInterrupt: exit(7)"),
        ("uncaught", "print('ready', flush=True)\nwhile True: signal.pause()"),
        ("waiting", "print('ready', flush=True)\nthreading.Event().wait()"),
        ("with a thread", "threading.Thread(target=signal.pause, daemon=True).start()\n"
         "print('ready', flush=True)\nthreading.Event().wait()"),
    ):
        # Whoever runs this may have SIGINT ignored.
        before = "import signal, threading\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        process = subprocess.Popen(python(before + code), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        # The line of the traceback is where it happened to be.
        print(what, process.communicate()[1].splitlines()[-1:], process.returncode)


print(sys.version)
subprocesses()
multiprocesses()
faults()
interrupts()
print("end")
