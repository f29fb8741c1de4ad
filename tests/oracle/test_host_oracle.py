#!/usr/bin/env python3
"""host_oracle.py against numbers worked out by hand, in us."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import host_cases  # noqa: E402
import host_oracle  # noqa: E402
from host_cases import backward, call, forward, function, kernel, op  # noqa: E402


def rows(events):
    """{name: sums over steps and args} in us, calls and activities as they are."""
    found = {}
    for (_, _, (name, _), _), row in host_oracle.HostTrace(events).host_rows.items():
        row = [number if column in (0, 3) else number / 1000 for column, number in enumerate(row)]
        found[name] = [a + b for a, b in zip(found.get(name, [0] * 8), row)]
    return found


class HostOracle(unittest.TestCase):
    def test_slices_that_cross_share_the_time_by_their_starts(self):
        found = rows([op("a", 0, 10), op("b", 5, 10), op("c", 9, 20)])
        self.assertEqual({name: row[:3] for name, row in found.items()},
                         {"a": [1, 10, 5], "b": [1, 10, 4], "c": [1, 20, 20]})

    def test_recursion_counts_once_in_totals(self):
        found = rows([op("r", 0, 100), op("s", 10, 50), op("r", 20, 10), call(1, 25, 1), kernel(1, 200, 7),
                      call(2, 15, 1), kernel(2, 210, 3)])
        self.assertEqual(found["r"], [2, 100, 60, 2, 10, 7, 0, 0])
        self.assertEqual(found["s"], [1, 50, 40, 2, 10, 3, 0, 0])

    def test_a_backward_pass_counts_where_its_forward_was(self):
        found = rows([function("nn.Module: M", 0, 50), forward("mm", 3, 10, 5), backward("engine", 3, 1, 100, 50, 2),
                      op("mm", 110, 5, 2), call(1, 111, 1, 2), kernel(1, 200, 7), call(2, 130, 1, 2),
                      kernel(2, 210, 3)])
        self.assertEqual(found["nn.Module: M"][3:], [0, 0, 0, 10, 10])
        self.assertEqual(found["mm"][3:], [1, 7, 7, 3, 3])
        self.assertEqual(found["engine"][3:], [2, 10, 3, 0, 0])

    def test_launches_by_external_id(self):
        trace = host_oracle.HostTrace(dict(host_cases.by_hand())["launches by External id"])
        names = [[piece.label[0] for piece in activity.path or []] for activity in trace.activities]
        self.assertEqual(names, [
            ["outer", "part", "inner"], ["outer", "part", "again"], ["elsewhere"], ["elsewhere"], [], [],
            ["outer", "part", "inner"], ["outer", "part", "again"], ["theirs"], ["theirs"],
            ["outer", "part", "again"], ["theirs"], [], []])

    def test_numbers_are_taken_out_of_args(self):
        self.assertEqual(host_oracle.without_numbers({"External id": 5, "Input Dims": [[5000]], "Size": 7}),
                         host_oracle.without_numbers({"External id": 6, "Input Dims": [[5000]], "Size": 7}))
        self.assertNotEqual(host_oracle.without_numbers({"Size": 7}), host_oracle.without_numbers({"Size": 8}))
        self.assertNotEqual(host_oracle.without_numbers({}), host_oracle.without_numbers(None))


if __name__ == "__main__":
    unittest.main()
