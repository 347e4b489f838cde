"""Classifies rows in Spark's local mode, and kills the process of the first partition that begins.

    python rows.py <rows.jsonl> <results.jsonl> <program of a partition> <argument>...

Like a cluster, `local[2,4]` computes a failed partition again, up to four times.
"""
import json
import os
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark import SparkConf, SparkContext


def kill_first(started):
    """Kills the first process in the file `started` after half a second, while it works."""
    while not started.exists() or not started.read_text().endswith("\n"):
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(int(started.read_text().split()[0]), signal.SIGKILL)


def main():
    source, target, *command = sys.argv[1:]
    started = Path(target + ".started")
    killer = threading.Thread(target=kill_first, args=(started,), daemon=True)
    killer.start()
    conf = SparkConf().setMaster("local[2,4]").set("spark.ui.enabled", "false").set("spark.driver.host", "127.0.0.1")
    with SparkContext(conf=conf) as spark:
        rows = spark.parallelize([json.loads(line) for line in Path(source).read_text().splitlines()], 4)
        results = rows.map(json.dumps).pipe(shlex.join(command), {**os.environ, "STARTED": str(started)}, checkCode=True).map(json.loads)
        lines = [json.dumps(result) + "\n" for result in results.collect()]
    killer.join()
    Path(target).write_text("".join(lines))
    print("processes:", len(started.read_text().split()))


if __name__ == "__main__":
    main()
