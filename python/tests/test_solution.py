"""Options by name, tables, and what a Solution can do; stand-ins take the place of pandas and matplotlib."""

import contextlib
import datetime
import doctest
import io
import math
import os
import pathlib
import pickle
import re
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import invit  # noqa: E402
from invit import _instance  # noqa: E402

try:
    import pandas
except ImportError:
    pandas = None

TABLE = {"name": ["depot", "Ann", "Bob", "Smith, J."], "lat": [52.5, 52.51, 52.52, 52.49],
         "lon": [13.4, 13.41, 13.38, 13.45], "demand": [0, 2, 3, 4], "notes": ["", "bell", "", "dog"]}


class Frame:
    """As much of a DataFrame as the package uses."""

    def __init__(self, columns):
        self.data = columns if isinstance(columns, dict) else {
            name: [row.get(name) for row in columns] for name in dict.fromkeys(n for row in columns for n in row)}
        self.columns = list(self.data)

    def __getitem__(self, name):
        return self.data[name]

    def __len__(self):
        return len(next(iter(self.data.values())))


class Options(unittest.TestCase):
    def test_every_option_of_the_table_is_taken(self):
        instance = invit.generate("tsp", 30)
        for option in invit.options():
            value = {"choice": option.choices[0] if option.choices else None, "seconds": 0.01}.get(option.type, 1)
            more = {} if option.name == "time" else {"time": 0.02}
            solution = invit.solve(instance, **{option.name: value, **more})
            self.assertEqual(len(solution.tour), 30, option.name)

    def test_unknown_ones_are_refused_with_those_there_are(self):
        with self.assertRaisesRegex(invit.InvitError, "no option 'times': expected one of time, .*max_length"):
            invit.solve([(0, 0), (1, 1), (2, 0)], times=3)
        with self.assertRaisesRegex(invit.InvitError, "improve: expected .*neural"):
            invit.solve([(0, 0), (1, 1), (2, 0)], improve="hope")

    def test_iterations_are_reproducible(self):
        instance = invit.generate("tsp", 150, seed=8)
        first, second = (invit.solve(instance, iterations=300, seed=3, threads=1, construct="nearest") for _ in range(2))
        self.assertEqual(first.routes, second.routes)
        self.assertLess(first.length, first.constructed)

    def test_target_stops(self):
        solution = invit.solve(invit.generate("tsp", 200), construct="nearest", target=1e9, time=60)
        self.assertLess(solution.seconds, 20)

    def test_start_from_solutions_lists_and_files(self):
        for problem in ("tsp", "cvrp"):
            instance = invit.generate(problem, 40, seed=2)
            begin = invit.solve(instance, construct="nearest", time=0)
            with tempfile.TemporaryDirectory() as scratch:
                path = pathlib.Path(scratch, "x.tour" if problem == "tsp" else "x.sol")
                begin.save(path)
                for start in (begin, begin.routes, begin.tour, path, str(path)):
                    again = invit.solve(instance, start=start, time=0)
                    self.assertEqual((again.length, again.rollouts), (begin.length, 0))
        completed = invit.solve(instance, start=[[1, 2]], time=0)
        self.assertEqual(sorted(node for route in completed.routes for node in route), list(range(1, 41)))
        with self.assertRaisesRegex(invit.InvitError, "start from"):
            invit.solve(instance, start=[[1, 2, 1]], time=0)

    def test_a_damaged_model_is_an_error_and_a_missing_one_a_warning(self):
        instance = invit.generate("tsp", 20)
        with tempfile.TemporaryDirectory() as scratch, mock.patch.dict(os.environ, INVIT_MODELS=scratch):
            pathlib.Path(scratch, "tsp-2v.safetensors").write_bytes(b"damaged")
            with self.assertRaisesRegex(invit.InvitError, "tsp-2v.safetensors"):
                invit.solve(instance, time=0)
        missing = invit.InvitError("no model tsp-2v.safetensors in $INVIT_MODELS")
        missing.status = 4
        with mock.patch.object(invit, "Model", side_effect=missing):
            with self.assertWarnsRegex(UserWarning, "no bundled model"):
                self.assertIsNone(invit._default_model("tsp", fallback=True))
            with self.assertRaisesRegex(invit.InvitError, "no model"):
                invit._default_model("tsp", fallback=False)

    def test_a_line_of_progress(self):
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            invit.solve(invit.generate("tsp", 300), time=0.5, construct="greedy", progress=True)
        self.assertRegex(shown.getvalue(), r"\rimprove +.*best \d")
        self.assertRegex(shown.getvalue(), r"a tour of 300 nodes, length .* s *\n$")


class Tables(unittest.TestCase):
    def test_frames_dicts_and_rows(self):
        rows = [dict(zip(TABLE, values)) for values in zip(*TABLE.values())]
        for table in (Frame(TABLE), TABLE, rows):
            solution = invit.solve(table, capacity=6, time=0.1)
            self.assertEqual(solution.instance.metric, "haversine")
            self.assertEqual(solution.instance.labels, TABLE["name"])
            self.assertEqual((solution.instance.demands, solution.instance.capacity), ([0, 2, 3, 4], 6))
            self.assertEqual(sorted(node for route in solution.routes for node in route), [1, 2, 3])

    def test_times_missing_values_and_decimals(self):
        table = {"x": [0, 10.5, 20], "y": [0.0, 0, 0], "open": [datetime.time(8, 0), "8:30", None],
                 "close": ["12:00", datetime.time(9, 0), math.nan], "demand": [math.nan, 0.5, 1]}
        instance = invit.Instance(table, capacity=1.5, service=5, vehicles=2)
        self.assertEqual((instance.demands, instance.capacity), ([0, 0.5, 1], 1.5))
        self.assertEqual(instance.array("earliest")[:2], [480, 510])
        self.assertEqual(instance.array("service"), [0, 5, 5])
        self.assertEqual(instance.get("vehicles"), 2)

    def test_what_a_table_lacks_is_said(self):
        for pattern, table in (("expected a header with the columns x,y", {"a": [1, 2], "b": [3, 4]}),
                               ("no rows", {}), ("no rows", {"x": [], "y": []}), ("same length", {"x": [1, 2], "y": [3]}),
                               ("capacity", {"x": [0, 1], "y": [0, 1], "demand": [0, 1]})):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                invit.Instance(table)

    def test_labels(self):
        coords = [(0, 0), (1, 1), (2, 0)]
        self.assertEqual(invit.Instance(coords, labels=["a", "b", "\u00fc"]).labels, ["a", "b", "\u00fc"])
        self.assertIsNone(invit.Instance(coords).labels)
        for pattern, labels in (("one per node, 3, not 2", ["a", "b"]), ("character 0", ["a", "b\0c", "d"])):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                invit.Instance(coords, labels=labels)

    def test_the_date_line(self):
        table = {"lat": [0, 1, 2], "lon": [179.5, -179.5, 180], "demand": [0, 1, 1]}
        solution = invit.solve(table, capacity=2, time=0)
        self.assertEqual({r["node"]: r["lon"] for r in solution.to_records()}, {0: 179.5, 1: -179.5, 2: 180})
        self.assertEqual(pickle.loads(pickle.dumps(solution)).check(), solution.check())

    def test_points_of_a_geo_frame(self):
        class Points(list):
            name = "geometry"
            x, y = property(lambda s: [p[0] for p in s]), property(lambda s: [p[1] for p in s])
        frame = Frame({"id": ["a", "b", "c"], "geometry": Points([(13.4, 52.5), (13.5, 52.4), (13.3, 52.6)])})
        frame.geometry, frame.crs = frame["geometry"], types.SimpleNamespace(is_geographic=True)
        instance = invit.Instance(frame)
        self.assertEqual((instance.metric, instance.labels), ("haversine", ["a", "b", "c"]))
        self.assertEqual(instance.coords[1], [13.5, 52.4])



@unittest.skipIf(pandas is None, "pandas is not installed")
class Pandas(unittest.TestCase):
    def frame(self):
        return pandas.DataFrame({
            "Name": ["depot", "Ann", "Bob", "Cem"], "Latitude": [52.5, 52.51, 52.52, 52.49],
            "Lng": [13.4, 13.41, 13.38, 13.45], "Qty": pandas.array([None, 2, 3, 4], dtype="Int64"),
            "open": [pandas.Timestamp("2026-01-01 08:00"), None, pandas.Timestamp("2026-01-01 09:00"), pandas.NaT],
            "close": ["17:00", "", "", None]})

    def test_columns_by_their_names_and_what_is_missing(self):
        solution = invit.solve(self.frame(), capacity=6, service=5, speed=30, iterations=20)
        instance = solution.instance
        self.assertEqual((instance.metric, instance.labels), ("haversine", ["depot", "Ann", "Bob", "Cem"]))
        self.assertEqual((instance.demands, instance.capacity), ([0, 2, 3, 4], 6))
        self.assertEqual((instance.array("earliest")[0], instance.array("earliest")[2]), (480, 540))
        frame = solution.to_frame()
        self.assertEqual(list(frame.columns)[:6], ["route", "stop", "node", "label", "lon", "lat"])
        self.assertEqual(len(frame), 3 + 2 * len(solution.routes))
        self.assertGreaterEqual(frame.set_index("label").arrival["Bob"], 540)

    def test_an_index_with_names(self):
        plain = self.frame()[["Latitude", "Lng"]]
        self.assertIsNone(invit.Instance(plain).labels)
        self.assertIsNone(invit.Instance(plain[1:]).labels)
        self.assertEqual(invit.Instance(plain.set_axis(list("abcd"))).labels, list("abcd"))
        self.assertEqual(invit.Instance(plain.rename_axis("customer")).labels, list("0123"))
        self.assertEqual(invit.Instance(self.frame()[["Name", "Latitude", "Lng"]].set_axis(list("abcd"))).labels[1], "Ann")
        self.assertEqual(invit.Instance(self.frame()[["Name", "Latitude", "Lng"]], labels="Lng").labels[1], "13.41")
        with self.assertRaisesRegex(invit.InvitError, "no column 'who', but Latitude, Lng"):
            invit.Instance(plain, labels="who")
        with self.assertRaisesRegex(invit.InvitError, "only a table"):
            invit.Instance([(0, 0), (1, 1), (2, 2)], labels="who")

    def test_matrices_and_series(self):
        matrix = pandas.DataFrame([[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]], list("abcd"), list("abcd"))
        for solution in (invit.solve(matrix, iterations=20), invit.solve(distances=matrix, iterations=20)):
            self.assertEqual((solution.tour, solution.length), ([0, 1, 2, 3], 4))
        self.assertEqual(invit.Instance(matrix).labels, list("abcd"))
        demands, windows = pandas.Series([0, 1, 2, 3], [5, 6, 7, 8]), pandas.DataFrame({"from": [0] * 4, "to": [90] * 4})
        instance = invit.Instance([(0, 0), (1, 0), (2, 0), (3, 0)], demands, 4, time_windows=windows, distances=matrix,
                                  service=pandas.Series([0, 1, 1, 1]))
        self.assertEqual((instance.demands, instance.array("latest")), ([0, 1, 2, 3], [90] * 4))
        self.assertEqual((instance.array("service"), instance.array("distances")[2]), ([0, 1, 1, 1], 9))


class Answers(unittest.TestCase):
    def setUp(self):
        self.solution = invit.solve(TABLE, capacity=6, time=0.1, service=5, speed=30)

    def test_routes_know_their_length_and_load(self):
        solution = invit.solve(invit.generate("cvrp", 60, seed=3), construct="savings", time=0)
        instance = solution.instance
        self.assertAlmostEqual(sum(route.length for route in solution.routes), solution.length)
        for route in solution.routes:
            self.assertEqual(route.load, sum(instance.demands[node] for node in route))
            self.assertEqual(route.path, [0, *route, 0])
        tour = invit.solve(invit.generate("tsp", 20), construct="greedy", time=0)
        self.assertAlmostEqual(tour.routes[0].length, tour.length)
        self.assertEqual(len(tour.routes[0].arrivals), 20)
        self.assertEqual((invit.Route([], instance).length, invit.Route([], instance).stops), (0, []))
        for route in self.solution.routes:
            self.assertEqual(route.arrivals, [stop.arrival for stop in route.stops[1:-1]])
            self.assertGreater(route.duration, 5 * len(route))
        with self.assertRaisesRegex(invit.InvitError, "nodes from 0 to 3"):
            invit.Route([1, 9], self.solution.instance).stops

    def test_check(self):
        self.assertTrue(self.solution.check())
        instance = self.solution.instance
        self.assertEqual(invit.check(instance, self.solution).length, self.solution.length)
        self.assertTrue(invit.check(instance, self.solution.tour))
        wrong = invit.check(instance, [[1, 2, 3]])
        self.assertFalse(wrong)
        self.assertRegex(wrong.message, "load|capacity|demand")
        self.assertFalse(invit.check(instance, [[1, 2]]))
        with self.assertRaisesRegex(invit.InvitError, "far too large"):
            invit.check(instance, [[1, 2**32 + 2, 3]])
        with self.assertRaisesRegex(invit.InvitError, "expected routes"):
            invit.check(instance, 7)
        for routes in (["a", "b"], [[1.5, 2]], [[1, None]]):
            with self.assertRaisesRegex(invit.InvitError, "whole numbers"):
                invit.check(instance, routes)

    def test_save_and_read_back(self):
        with tempfile.TemporaryDirectory() as scratch:
            for name in ("a.sol", "a.txt", "a.geojson", "a.csv"):
                path = pathlib.Path(scratch, name)
                self.solution.save(path)
                self.assertGreater(path.stat().st_size, 20)
            self.assertTrue(invit.check(self.solution.instance, pathlib.Path(scratch, "a.sol")))
            self.assertIn("Smith", pathlib.Path(scratch, "a.csv").read_text())
            with self.assertRaisesRegex(invit.InvitError, r"ends in \.tour"):
                self.solution.save(pathlib.Path(scratch, "a.xyz"))
            with self.assertRaises(invit.InvitError):
                self.solution.save(pathlib.Path(scratch, "nowhere", "a.sol"))
            self.solution.save(pathlib.Path(scratch, "a.xyz"), format="stops")
            self.assertEqual(sorted(os.listdir(scratch)), ["a.csv", "a.geojson", "a.sol", "a.txt", "a.xyz"])

    def test_geojson(self):
        found = self.solution.to_geojson()
        self.assertEqual(found["type"], "FeatureCollection")
        kinds = [feature["geometry"]["type"] for feature in found["features"]]
        self.assertEqual((kinds.count("Point"), kinds.count("MultiLineString")), (4, len(self.solution.routes)))

    def test_frames(self):
        records = self.solution.to_records()
        self.assertEqual(len(records), 3 + 2 * len(self.solution.routes))
        self.assertEqual(records[0]["label"], "depot")
        self.assertEqual((records[0]["lat"], records[0]["lon"]), (52.5, 13.4))
        self.assertIn("arrival", records[0])
        with mock.patch.dict(sys.modules, pandas=types.SimpleNamespace(DataFrame=Frame)):
            self.assertEqual(len(self.solution.to_frame()), len(records))
        with mock.patch.dict(sys.modules, pandas=None), self.assertRaisesRegex(invit.InvitError, "needs pandas"):
            self.solution.to_frame()

    def test_repr_is_short(self):
        self.assertLess(len(repr(self.solution)), 100)
        self.assertIn("routes", repr(self.solution))

    def test_drawing(self):
        picture = xml.etree.ElementTree.fromstring(self.solution._repr_svg_())
        tags = [child.tag.rpartition("}")[2] for child in picture]
        self.assertEqual((tags.count("polyline"), tags.count("circle")), (len(self.solution.routes), 4))
        page = xml.etree.ElementTree.fromstring(f"<p>{self.solution._repr_html_()}</p>")
        self.assertEqual(len(page.findall(".//tbody/tr")), len(self.solution.routes))
        self.assertIn("duration", [head.text for head in page.iter("th")])
        bare = invit.solve([[0, 1, 2], [1, 0, 3], [2, 3, 0]], time=0)
        self.assertIsNone(bare._repr_svg_())
        self.assertIn("a tour of 3 nodes", bare._repr_html_())
        axes = mock.Mock()
        with mock.patch.dict(sys.modules, {"matplotlib": mock.Mock(), "matplotlib.pyplot": mock.Mock()}):
            self.solution.plot(axes)
            with self.assertRaisesRegex(invit.InvitError, "no coordinates"):
                invit.solve([[0, 1, 2], [1, 0, 3], [2, 3, 0]], time=0).plot(axes)
        self.assertAlmostEqual(axes.set_aspect.call_args[0][0], 1 / math.cos(math.radians(52.505)), places=6)

    def test_pickle(self):
        matrix = [[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]]
        square = [(0, 0), (0, 1), (1, 1), (1, 0)]
        cases = (self.solution, invit.solve(matrix, time=0.1), invit.solve(square, time=0, metric="ceil_2d"),
                 invit.solve(invit.generate("cvrp", 30), time=0, construct="savings"),
                 invit.solve(square, start_node=1, end_node=2, time=0.1), invit.solve(square, vehicles=2, time=0.1),
                 invit.solve(square, vehicles="fewest", max_stops=2, open=True, time=0.1),
                 invit.solve(square, [0, 0.5, 0.25, 1], 1.5, time_windows=[(0, 30), (2, 19), (None, 18), (0, 9.5)],
                             service=0.5, max_length=9.5, durations=matrix, time=0.1))
        for solution in cases:
            again = pickle.loads(pickle.dumps(solution))
            self.assertEqual(again.instance.__getstate__(), solution.instance.__getstate__())
            self.assertEqual((again.routes, repr(again)), (solution.routes, repr(solution)))
            self.assertEqual(again.check(), solution.check())
            self.assertTrue(again.check())
            self.assertEqual(again.schedule(), solution.schedule())

    def test_a_table_comes_through(self):
        """Columns that routes do not need, from tables and files to lists, folders, pickles and JSON problems."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "de.csv")
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write("\ufeffName;Adresse;x;y;Menge;capacity;open;close;priority\r\n"
                           "Lager;Hafen 1;0;0;0;5;8:00;17:00;\r\nA;\"Weg; 2\";1,5;0;2;;;;1\r\nB;;0;2;4;;9:00;;\r\n")
            with self.assertWarnsRegex(UserWarning, "column 'priority' is not used"):
                solution = invit.solve(path, time=0.1)
            self.assertEqual(solution.instance.table["rows"][1][0], "Weg; 2")
            self.assertEqual(solution.instance.table["dialect"], "semicolon decimal-comma bom crlf")
            self.assertIsNone(invit.Instance([(0, 0), (1, 1)]).table)
            problem = os.path.join(folder, "problem.json")
            solution.instance.save(problem)
            again = invit.solve(problem, start=solution, time=0)
            lists = []
            for i, plan in enumerate((solution, pickle.loads(pickle.dumps(solution)), again)):
                plan.save(os.path.join(folder, f"{i}.csv"))
                with open(os.path.join(folder, f"{i}.csv"), encoding="utf-8", newline="") as file:
                    lists.append(file.read())
            self.assertRegex(lists[0], r"^\ufeffroute;.*;Adresse;capacity;open;close;priority\r\n")
            self.assertRegex(lists[0], r'1;1;\d;.;.*;09:00|;"Weg; 2";')
            self.assertEqual(lists[1:], lists[:1] * 2)
            drivers = os.path.join(folder, "drivers", "")
            os.mkdir(drivers)
            for name in ("route-9.csv", "route-x.csv"):
                open(drivers + name, "w").close()
            solution.save(drivers)
            self.assertEqual(sorted(os.listdir(drivers)),
                             ["route-1.csv", "route-2.csv", "route-x.csv", "stops.csv", "summary.csv"])
            with open(drivers + "route-2.csv", encoding="utf-8-sig") as file:
                self.assertEqual({line.split(";")[0] for line in file}, {"route", "2"})
            with self.assertRaisesRegex(invit.InvitError, "ends in .json"):
                solution.instance.save(os.path.join(folder, "x.pdf"))
            with self.assertRaisesRegex(invit.InvitError, "write it as JSON|neither rules"):
                invit.Instance([(0, 0), (1, 1)], open=True).save(os.path.join(folder, "x.tsp"))

    def test_version(self):
        self.assertRegex(invit.__version__, r"^\d+\.\d+\.\d+")


class Documents(unittest.TestCase):
    """The examples of the documents, as they stand there."""

    def setUp(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)

    def test_examples(self):
        runs = [doctest.testmod(module) for module in (invit, invit._decisions)]
        runs += [doctest.testfile(str(ROOT / name), module_relative=False) for name in ("python/README.md",)]
        self.assertEqual([(run.failed, run.attempted > 2) for run in runs], [(0, True)] * 3)

    def test_examples_with_the_lab(self):
        try:
            from invit import lab
        except ImportError:
            self.skipTest("there is no libinvit-lab")
        for failed, attempted in (doctest.testmod(lab), doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)):
            self.assertEqual(failed, 0)
            self.assertGreater(attempted, 3)

    def test_blocks_of_the_readme(self):
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
        self.assertGreater(len(blocks), 0)
        for block in blocks:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, "README.md", "exec"), {})

    def test_signature_names_the_rules(self):
        names = set(_instance.Instance.__init__.__code__.co_varnames) & set(invit._RULES)
        self.assertEqual(names, set(invit._RULES))


if __name__ == "__main__":
    unittest.main()
