"""A Spark cluster of a master and two workers, each a process of its own, on loopback."""
import os
import pathlib
import socket
import subprocess
import time
import urllib.request

LIMIT_S = 120


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, folder, workers=2):
        import pyspark
        self.home = pathlib.Path(pyspark.__file__).parent
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.workers = workers
        self.processes = []

    def start(self, name, *arguments):
        environment = dict(os.environ, SPARK_HOME=str(self.home), SPARK_LOCAL_IP="127.0.0.1",
                           SPARK_NO_DAEMONIZE="1")
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append(subprocess.Popen(
                [self.home / "bin/spark-class", *arguments], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, env=environment, cwd=self.folder))

    def living_workers(self, port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as answer:
                return answer.read().decode().count('"ALIVE"') - 1  # the master is alive too
        except OSError:
            return 0

    def __enter__(self):
        port, page = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self.start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1",
                   "--port", str(port), "--webui-port", str(page))
        for number in range(self.workers):
            self.start(f"worker{number}", "org.apache.spark.deploy.worker.Worker", self.master,
                       "--host", "127.0.0.1", "--cores", "1", "--memory", "2g", "--webui-port",
                       str(free_port()), "--work-dir", str(self.folder / f"work{number}"))
        begun = time.monotonic()
        while self.living_workers(page) < self.workers:
            if time.monotonic() - begun > LIMIT_S or any(
                    one.poll() is not None for one in self.processes):
                self.__exit__()
                raise RuntimeError(f"the cluster did not start: see {self.folder}/*.log")
            time.sleep(0.2)
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
