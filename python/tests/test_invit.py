"""Tests of the Python package; unittest only, NumPy when it is there."""

import math
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import invit  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

SQUARE = [(0, 0), (0, 1), (1, 1), (1, 0)]


class Solve(unittest.TestCase):
    def test_square(self):
        solution = invit.solve(SQUARE, time=0, construct="greedy")
        self.assertAlmostEqual(solution.length, 4.0)
        self.assertEqual(sorted(solution.tour), [0, 1, 2, 3])

    def test_vehicles_respect_the_capacity(self):
        instance = invit.generate("cvrp", 60, seed=3)
        solution = invit.solve(instance, time=0.5, construct="savings")
        for route in solution.routes:
            self.assertLessEqual(sum(instance.demands[i] for i in route), instance.capacity)
        self.assertEqual(sorted(i for r in solution.routes for i in r), list(range(1, 61)))
        checked = invit._check(instance, solution.routes)
        self.assertTrue(checked.feasible)
        self.assertAlmostEqual(checked.length, solution.length, places=9)

    def test_vehicles_as_in_the_library(self):
        instances = [invit.generate("cvrp", 30, seed=3, index=i, library=True) for i in range(8)]
        self.assertGreater(len({instance.capacity for instance in instances}), 4)

    def test_same_seed_same_tour(self):
        instance = invit.generate("tsp", 80, "clustered", seed=5)
        first, second = (invit.solve(instance, time=0, seed=7, construct="nearest").tour for _ in range(2))
        self.assertEqual(first, second)

    def test_time_improves(self):
        instance = invit.generate("tsp", 300, seed=2)
        built = invit.solve(instance, time=0, construct="nearest")
        better = invit.solve(instance, time=0.5, construct="nearest")
        self.assertLess(better.length, 0.95 * built.length)

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_numpy_arrays(self):
        xy = numpy.random.default_rng(1).random((50, 2))
        for array in (xy, xy.astype("float32"), numpy.asfortranarray(xy), xy[::2]):
            solution = invit.solve(array, time=0, construct="greedy")
            self.assertEqual(sorted(solution.tour), list(range(len(array))))
            order = array[solution.tour].astype("float64")
            length = float(numpy.hypot(*(order - numpy.roll(order, -1, axis=0)).T).sum())
            self.assertTrue(math.isclose(length, solution.length, rel_tol=1e-9))

    def test_progress_can_stop(self):
        seen = []
        began = time.monotonic()
        invit.solve(invit.generate("tsp", 500, seed=1), time=30, construct="greedy",
                    progress=lambda p: seen.append(p) or False)
        self.assertTrue(seen)
        self.assertLess(time.monotonic() - began, 10)

    def test_progress_shows_better_and_better_solutions(self):
        for problem, construct in (("tsp", "nearest"), ("cvrp", "savings")):
            instance, seen = invit.generate(problem, 400, seed=4), []
            end = invit.solve(instance, time=1.5, construct=construct, progress=lambda p: p.routes and seen.append(p))
            self.assertGreater(len(seen), 1, problem)
            for shown in seen:
                checked = invit._check(instance, shown.routes)
                self.assertTrue(checked.feasible)
                self.assertAlmostEqual(checked.length, shown.best, places=6)
            lengths = [round(length, 9) for length in [p.best for p in seen] + [end.length]]
            self.assertEqual(lengths, sorted(lengths, reverse=True))

    def test_an_exception_in_the_callback_comes_back(self):
        def fail(_):
            raise ZeroDivisionError
        with self.assertRaises(ZeroDivisionError):
            invit.solve(invit.generate("tsp", 500, seed=1), time=30, construct="greedy", progress=fail)

    def test_other_threads_run_meanwhile(self):
        done = threading.Event()
        worker = threading.Thread(target=lambda: (invit.solve(invit.generate("tsp", 200), time=1, construct="greedy"), done.set()))
        worker.start()
        ticks = 0
        while not done.is_set():
            ticks += 1
            time.sleep(0.01)
        worker.join()
        self.assertGreater(ticks, 20)


class Ways(unittest.TestCase):
    def test_a_file_by_its_name(self):
        examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
        for name in (str(examples / "bakery.csv"), examples / "bakery.csv"):
            solution = invit.solve(name, capacity=60, iterations=50)
            self.assertEqual((solution.instance.name, solution.instance.capacity), ("bakery", 60))
        with self.assertRaisesRegex(invit.InvitError, "only capacity goes beside it"):
            invit.solve(examples / "bakery.csv", vehicles=3)
        with self.assertRaisesRegex(invit.InvitError, "nowhere.tsp"):
            invit.solve("nowhere.tsp")

    def test_iterators(self):
        self.assertEqual(len(invit.solve(zip([0, 0, 1, 1], [0, 1, 1, 0]), time=0).tour), 4)
        self.assertEqual(len(invit.solve(((i, i * i % 5) for i in range(5)), time=0).tour), 5)

    def test_what_is_offered(self):
        self.assertEqual(dir(invit), sorted([*invit.__all__, "__version__", "lab"]))


class Stop(unittest.TestCase):
    def test_false_stops_with_the_best_so_far(self):
        began = time.monotonic()
        solution = invit.solve(invit.generate("tsp", 100), time=30, construct="greedy", progress=lambda p: p.best > 1e9)
        self.assertLess(time.monotonic() - began, 10)
        self.assertEqual(len(solution.tour), 100)

    def test_stopping_before_there_is_a_solution_gives_a_quick_one(self):
        for problem in ("tsp", "cvrp"):
            instance = invit.generate(problem, 3000, seed=2)
            solution = invit.solve(instance, time=60, construct="invit", progress=lambda p: False)
            self.assertTrue(solution.check())
            self.assertLess(solution.seconds, 20)

    def test_no_solution_is_infinitely_long(self):
        seen = []
        invit.solve(invit.generate("tsp", 300), time=0, rollouts=8, threads=1, progress=lambda p: seen.append(p.best))
        self.assertFalse([best for best in seen if best != best])

    def test_exceptions_of_the_callback_come_back(self):
        for construct in ("invit", "greedy"):
            with self.assertRaises(ZeroDivisionError):
                invit.solve(invit.generate("tsp", 300), time=30, construct=construct, progress=lambda p: 1 / 0)

    def test_ctrl_c(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with it ignored
        for progress in (None, lambda p: None):
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                invit.solve(invit.generate("tsp", 200), time=30, construct="greedy", progress=progress)
            self.assertLess(time.monotonic() - began, 10)
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)


class Rules(unittest.TestCase):
    def test_a_square_matrix_is_one_of_distances(self):
        matrix = [[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]]  # not symmetric
        solution = invit.solve(matrix, time=0.2)
        self.assertEqual((solution.tour, solution.length), ([0, 1, 2, 3], 4.0))
        if numpy is not None:
            self.assertEqual(invit.solve(numpy.array(matrix), time=0.2).length, 4.0)
        self.assertEqual(invit.solve(distances=matrix, start_node=1, time=0.2).length, 3.0)

    def test_what_is_frozen_stays(self):
        coords = [(0, 0), (10, 0), (20, 0), (30, 0), (40, 0)]
        solution = invit.solve(coords, demands=[0, 1, 1, 1, 1], capacity=3, freeze=[[4, 2], [1]], time=0.2)
        self.assertEqual(sorted(route[:2] for route in solution.routes)[-1], [4, 2])
        self.assertFalse(invit.check(solution.instance, [[2, 4, 1], [3]]).feasible)
        self.assertEqual(invit.solve(coords, freeze=[3, 1], time=0.2).tour[:2], [3, 1])
        part = invit.solve(coords, demands=[0, 1, 1, 1, 1], capacity=3, start=[[4], [2, 1]], time=0.2)
        self.assertEqual(sorted(node for route in part.routes for node in route), [1, 2, 3, 4])

    def test_windows_service_and_vehicles(self):
        coords = [(0, 0), (10, 0), (20, 0), (0, 10)]
        solution = invit.solve(coords, time_windows=[("8:00", "12:00"), ("8:30", "9:00"), (None, None), (None, "8:15")],
                               service=5, vehicles=2, max_duration="1:30", time=0.3)
        self.assertTrue(invit._check(solution.instance, solution.routes).feasible)
        for route in solution.schedule():
            self.assertEqual((route[0].node, route[-1].node), (0, 0))
            self.assertLessEqual(route[-1].arrival - route[0].departure, 90)
            for stop in route:
                self.assertLessEqual(stop.arrival, {1: 540, 3: 495}.get(stop.node, 720))

    def test_decimals_and_open_routes(self):
        solution = invit.solve([(0, 0), (1, 0), (2, 0)], demands=[0, 0.4, 0.6], capacity=1.0, open=True, time=0.2)
        self.assertEqual((solution.routes, solution.length), ([[1, 2]], 2.0))
        self.assertAlmostEqual(solution.schedule()[0][-1].load, 1.0)

    def test_what_cannot_be_is_refused(self):
        coords = [(0, 0), (10, 0), (20, 0)]
        for pattern, rules in (("closes 1, before it opens, 5", {"time_windows": [(0, 99), (5, 1), (0, 99)]}),
                               ("stop 2: cannot be reached in time", {"time_windows": [(0, 99), (0, 99), (0, 15)]}),
                               ("stop 2: the way there and back", {"max_length": 30}),
                               ("square matrix", {"durations": [[0, 1], [1, 0]]}),
                               ("vehicles 'many'", {"vehicles": "many"})):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                invit.solve(coords, time=0.2, **rules)


class Refuse(unittest.TestCase):
    def test_demands_that_are_too_few(self):
        self.refuses("demands: expected 4 numbers, got 2", SQUARE, demands=[0, 1], capacity=3)
        self.refuses("demands: expected 4 numbers, got 2", SQUARE, demands=[0, 0.5], capacity=3)

    def refuses(self, pattern, *arguments, **named):
        with self.assertRaisesRegex(invit.InvitError, pattern):
            invit.solve(*arguments, **named)

    def test_bad_input(self):
        self.refuses("expected coordinates from", [(0, 0), (1, float("nan"))], time=0, construct="greedy")
        self.refuses("two columns", [(0, 0, 0), (1, 1, 1)], time=0)
        self.refuses("two columns", [(0, 0), (3,), (1, 2, 3)], time=0)
        self.refuses("capacity: expected a number from 1", SQUARE, [0, 1, 1, 1], 2**64 + 5, time=0, construct="savings")
        self.refuses("own demands", invit.Instance(SQUARE), metric="euc_2d", time=0)
        self.refuses("nodes", [], time=0, construct="greedy")
        self.refuses("demand 9", SQUARE, [0, 9, 1, 1], 5, time=0, construct="savings")
        self.refuses("decimals", SQUARE, [0, 1 / 3, 1, 1], 5, time=0, construct="savings")
        self.refuses("both demands and capacity", SQUARE, [0, 1, 1, 1], time=0)
        self.refuses("metric must be", SQUARE, metric="manhattan", time=0)
        self.refuses("time: expected a time such as 10", SQUARE, time=-1)
        self.refuses("time: expected a number of seconds", SQUARE, time=math.nan)
        with self.assertRaises(invit.InvitError):
            invit.Model("/nowhere/model.safetensors")

    def test_numbers_are_not_cut_off(self):
        """What C's types cannot hold is refused; seed=-1 would otherwise be 2**64 - 1, rollouts=2**32 + 3 be 3."""
        wrong = (-1, 2**64 + 7, 1.5, math.nan, math.inf, -math.inf, 10**400, "7", None)
        for value in wrong:
            for name in ("size", "seed", "index") + (("capacity",) if value is not None else ()):
                with self.assertRaisesRegex(invit.InvitError, f"{name}: expected"):
                    invit.generate("cvrp", **{"size": 9, name: value})
            for name in ("seed", "threads") + (("rollouts",) if value is not None else ()):
                self.refuses(f"{name}: expected", SQUARE, time=0, construct="greedy", **{name: value})
            with self.assertRaisesRegex(invit.InvitError, "index: expected"):
                invit.read("/nowhere/x.tsp", index=value)
        self.refuses("rollouts: expected", SQUARE, time=0, rollouts=2**32 + 3)
        self.refuses("threads: expected", SQUARE, time=0, threads=2**32 + 1, construct="greedy")
        self.refuses("demand nan: expected a number", SQUARE, [0, 1, math.nan, 1], 5, time=0)
        self.refuses("capacity .*: expected a number", SQUARE, [0, 1, 1, 1], math.inf, time=0)

    def test_numbers_that_fit_are_taken(self):
        self.assertEqual(len(invit.generate(size=7.0, seed=2**64 - 1, index=2**64 - 1)), 7)
        solution = invit.solve(SQUARE, time=0, seed=2**64 - 1, threads=1, construct="greedy")
        self.assertEqual(len(solution.tour), 4)
        if numpy is not None:
            self.assertEqual(len(invit.generate(size=numpy.int16(7), seed=numpy.uint64(2**64 - 1))), 7)


class Files(unittest.TestCase):
    def test_read(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write("0 0\n0 3\n4 0\n")
            f.flush()
            instance = invit.read(f.name)
        self.assertEqual(len(instance), 3)
        self.assertAlmostEqual(invit.solve(instance, time=0, construct="nearest").length_exact, 12.0)

    def test_table_with_a_capacity(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write("id,x,y,demand\nA,0,0,0\nB,1,1,3\nC,2,0,4\n")
            f.flush()
            self.assertEqual(invit.read(f.name, capacity=5).capacity, 5)
            with self.assertRaisesRegex(invit.InvitError, "capacity"):
                invit.read(f.name)

    def test_missing_file(self):
        with self.assertRaisesRegex(invit.InvitError, "nowhere"):
            invit.read("/nowhere/x.tsp")


if __name__ == "__main__":
    unittest.main()
