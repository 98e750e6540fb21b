#!/usr/bin/env -S python3 -B
"""The cost of a run does not depend on what else runs on the machine, nor on what ran before. System calls are counted, since times
say little on a busy machine."""

import os

from support.harness import TERSE, Case, main, read_file

class Cost(Case):
    def begin(self, calls, *argv, **how):
        """Starts terse with such calls counted."""
        self.report = os.path.join(self.dir, "report")
        return self.start("fault", self.report, os.path.realpath(TERSE), calls + "=EIO", "0", "--",
                          TERSE, *argv, **how)

    def end(self, run, code=0):
        """How many there were."""
        self.assertEqual(run.finish().code, code)
        return int(read_file(self.report).split()[0])

    def crowd(self, size):
        """Processes that have nothing to do with us; nor are they our children."""
        run = self.start("sh", "-c", "i=0; while [ $i -lt %d ]; do sleep 1000 & i=$((i + 1)); done; "
                                     "echo there; wait" % size)
        run.until(b"there\n")
        return run

    def assert_alike(self, count):
        """It takes no more among many processes."""
        for calls in ("open", "stat", "read"):
            alone = count(calls)
            crowd = self.crowd(300)
            among = count(calls)
            self.kill_all()
            crowd.finish()
            self.assertLess(among, alone + 100, calls)

    def test_who_reads_is_found_among_many_processes(self):
        # More than what fits in the head of a preview: who reads has to be known.
        self.assert_alike(lambda calls: self.end(self.begin(calls, "seq", "1", "3000", kind="pipe")))

    def test_a_prompt_is_found_among_many_processes(self):
        def count(calls):
            run = self.begin(calls, "--yield", "10m", "sh", "-c", "read answer")
            name = run.until(rb"waiting for input.* (cmd-\w+)").group(1).decode()
            self.assertEqual(self.terse("send", name, "--key", "enter").code, 0)
            return self.end(run)
        self.assert_alike(count)

    def test_a_failure_among_many(self):
        """A success is looked for that never was; what the history tells is not opened."""
        fail = ("sh", "-c", "seq 3000; exit 3")
        self.terse(*fail)
        among = [self.end(self.begin("open", *fail), 3) for _ in range(40)]
        self.assertLess(among[-1], among[0] + 40, among)


if __name__ == "__main__":
    main()
