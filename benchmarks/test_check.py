"""Tests when two results count as equal: `python3 -m unittest discover benchmarks`."""

import unittest

import check
from queries import SUITES, Query, read_suite

TOP = Query("top", "SELECT k, count() AS c FROM t GROUP BY k ORDER BY c DESC LIMIT 2", False)


def answer(*lines: str) -> check.Answer:
    return "".join(f"{line}\n" for line in lines), ""


class Verdicts(unittest.TestCase):
    def test_rows_may_stand_in_any_order(self):
        query = Query("all", "SELECT k FROM t", False)
        self.assertEqual(check.verdict(query, [answer("k", "a", "b")], [answer("K", "b", "a")]), "equal")
        self.assertEqual(check.verdict(query, [answer("k", "a")], [answer("k", "b")]), "DIFFERENT")
        self.assertEqual(check.verdict(query, [answer("k", "a")], [answer("k", "a", "a")]), "DIFFERENT")

    def test_floats_have_a_tolerance_and_integers_have_none(self):
        self.assertTrue(check.equal_tables("x\n0.1234567890123\n7.25\t2\n", "x\n0.1234567890124\n7.25\t2\n"))
        self.assertFalse(check.equal_tables("x\n0.12345678\n", "x\n0.12345679\n"))
        self.assertFalse(check.equal_tables("x\n1000000000000\n", "x\n1000000000001\n"))
        self.assertTrue(check.equal_tables("x\n3\n", "x\n3.0000000000001\n"))

    def test_ties_may_be_cut_anywhere_but_keys_and_the_whole_must_agree(self):
        ours, theirs = answer("k\tc", "a\t5", "b\t1"), answer("k\tc", "a\t5", "z\t1")
        whole = answer("count()\tsum", "9\t77")
        self.assertEqual(check.verdict(TOP, [ours, whole], [theirs, whole]), "equal but for ties")
        other = answer("count()\tsum", "9\t78")
        self.assertEqual(check.verdict(TOP, [ours, whole], [theirs, other]), "DIFFERENT")
        wrong_keys = answer("k\tc", "a\t5", "z\t2")
        self.assertEqual(check.verdict(TOP, [ours, whole], [wrong_keys, whole]), "DIFFERENT")

    def test_an_error_is_no_difference(self):
        failed = ("", "Code: 48")
        self.assertEqual(check.verdict(TOP, [failed], [answer("k")]), "not compared, Basalt: Code: 48")

    def test_the_whole_is_the_query_without_its_tail(self):
        whole = "SELECT count(), sum(cityHash64(*)) FROM (SELECT k, count() AS c FROM t GROUP BY k)"
        self.assertEqual(check.statements(TOP), [TOP.sql, whole])
        offset = Query("o", "SELECT k FROM t ORDER BY a, b LIMIT 1 OFFSET 7", False)
        self.assertEqual(check.statements(offset)[1], "SELECT count(), sum(cityHash64(*)) FROM (SELECT k FROM t)")
        large = Query("l", "SELECT f(x) FROM t LIMIT 5", True)
        self.assertEqual(check.statements(large), ["SELECT count() FROM (SELECT f(x) FROM t LIMIT 5)"])


class Suites(unittest.TestCase):
    def test_queries_have_names_and_know_their_tables(self):
        for suite, tables in SUITES.items():
            queries = read_suite(suite, 0.5)
            self.assertEqual(len({query.name for query in queries}), len(queries))
            for query in queries:
                self.assertTrue(query.tables & set(tables) or " numbers" in query.sql, query.name)
            self.assertFalse(any("{" in query.sql for query in queries))
        self.assertEqual(len(read_suite("clickbench", 1)), 43)

    def test_sizes_follow_the_scale(self):
        sql = {query.name: query.sql for query in read_suite("peers", 0.5)}
        self.assertIn("numbers_mt(150000000)", sql["mod345"])
        self.assertIn("OFFSET 24999990", sql["order_abc"])


if __name__ == "__main__":
    unittest.main()
