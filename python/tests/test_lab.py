"""Decisions one by one; training, evaluation and checkpoints from Python."""

import contextlib
import io
import math
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import invit  # noqa: E402

try:
    from invit import lab
except ImportError as missing:
    lab = None
    if os.environ.get("INVIT_LAB_LIBRARY"):  # it was named, so it must be there
        raise missing

DATA = ROOT / "tests" / "data"
TINY = dict(dim=16, ff=32, heads=2, action_layers=1, state_layers=1, decoder_layers=1, views=[8, 12], batch=16,
            data="uniform:20", validate_small=1, validate_large=0, threads=1)


class Decisions(unittest.TestCase):
    def test_they_build_the_greedy_tour(self):
        for problem in ("tsp", "cvrp"):
            instance = invit.generate(problem, 40, seed=6)
            found = list(invit.decisions(instance))
            solution = invit.solve(instance, rollouts=1, time=0, decode="greedy")
            tour = found[-1].visited + [found[-1].chosen]
            checked = invit.check(instance, tour)
            self.assertTrue(checked, checked.message)
            self.assertAlmostEqual(checked.length, solution.length, places=9)
            self.assertEqual([d.step for d in found], list(range(len(found))))
            for before, now in zip(found, found[1:]):
                self.assertEqual((now.last, now.visited), (before.chosen, before.visited + [before.chosen]))
            for d in found:
                self.assertAlmostEqual(sum(d.probabilities), 1, places=3)
                self.assertEqual(d.probability, max(d.probabilities))
                self.assertEqual(len(d.candidates), len(d.probabilities))
                self.assertFalse(set(d.candidates + d.further) - {0} & set(d.visited))
                away = [math.dist(instance.coords[d.last], instance.coords[node]) for node in d.candidates]
                away = away[:-1] if problem == "cvrp" else away
                self.assertEqual(away, sorted(away))

    def test_sampling_depends_on_the_seed(self):
        instance = invit.generate("tsp", 60, seed=2)

        def tour(**options):
            return [d.chosen for d in invit.decisions(instance, decode="sample", temperature=3, **options)]
        self.assertEqual(tour(seed=4), tour(seed=4))
        self.assertGreater(len({tuple(tour(seed=seed)) for seed in range(4)}), 1)

    def test_leaving_the_loop_stops_the_policy(self):
        began, threads = time.monotonic(), threading.active_count()
        for d in invit.decisions(invit.generate("tsp", 50000)):
            if d.step == 20:
                break
        del d
        self.assertEqual(threading.active_count(), threads)
        self.assertLess(time.monotonic() - began, 20)  # all of them would take a minute

    def test_models_tables_and_short_text(self):
        table = {"x": [0, 3, 0, 4], "y": [0, 0, 4, 4], "name": ["a", "b", "c", "d"]}
        found = list(invit.decisions(table, model="tsp-2v"))
        self.assertEqual(len(found), 3)
        self.assertRegex(repr(found[0]), r"^<invit.Decision 0: \d to \d, probability [01]\.\d+, candidates 3>$")
        self.assertEqual(found[0].rank, found[0].candidates.index(found[0].chosen))
        self.assertEqual(found, list(invit.decisions(table, model=invit.Model("tsp-2v"))))

    def test_a_picture(self):
        for problem in ("tsp", "cvrp"):
            d = list(invit.decisions(invit.generate(problem, 80)))[9]
            picture = xml.etree.ElementTree.fromstring(d._repr_svg_())
            titles = [e.text for e in picture.iter() if e.tag.endswith("title")]
            self.assertEqual(len(titles), 1 + len(d.candidates))

    def test_what_is_refused(self):
        for pattern, arguments, options in (
                ("without rules", (invit.Instance([(0, 0), (1, 0), (2, 1)], vehicles=2),), {}),
                ("decode must be", (invit.generate("tsp", 9),), {"decode": "beam"}),
                ("whole number", (invit.generate("tsp", 9),), {"seed": 0.5})):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                invit.decisions(*arguments, **options)
        with self.assertRaisesRegex(invit.InvitError, "CVRP|cvrp"):
            list(invit.decisions(invit.generate("tsp", 9), model="cvrp-2v"))


class Models(unittest.TestCase):
    def test_problem_text_and_pickle(self):
        model = invit.Model("cvrp-2v")
        self.assertEqual((model.problem, repr(model)), ("cvrp", "<invit.Model 'cvrp-2v': cvrp>"))
        self.assertEqual(repr(pickle.loads(pickle.dumps(model))), repr(model))


class WithoutLab(unittest.TestCase):
    def test_what_is_missing_is_said(self):
        code = ("import sys; sys.path.insert(0, {!r}); import invit\n"
                "try: invit.lab\nexcept ImportError as error: print(error)\n"
                "print(len(list(invit.decisions([(0, 0), (0, 1), (1, 1)]))))").format(str(ROOT / "python"))
        with tempfile.NamedTemporaryFile(suffix=".so") as broken:
            broken.write(b"not a library")
            broken.flush()
            said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                                  env={**os.environ, "INVIT_LAB_LIBRARY": broken.name}).stdout
        self.assertRegex(said, "^invit.lab needs .*does not load: .*libcairo2 libzip4.*Solving works without it\n2\n$")


@unittest.skipIf(lab is None, "there is no libinvit-lab")
class Train(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.run_folder = os.path.join(scratch.name, "run")

    def test_a_run_stops_and_goes_on(self):
        seen = []
        first = lab.train("tsp", self.run_folder, steps=4, log_every=2, progress=lambda p: seen.append(p), **TINY)
        self.assertTrue(first.finished)
        self.assertEqual((first.steps, first.states, first.run), (4, 64, self.run_folder))
        self.assertTrue(0 < first.loss < 10 and 0 <= first.accuracy <= 1 and first.small_gap > 0)
        self.assertIsNone(first.large_gap)
        self.assertEqual((seen[-1].stage, seen[-1].count), ("train", 4))
        self.assertIn("step 4", seen[-1].message)
        self.assertIn("loss", {key for line in first.log() for key in line})
        again = lab.train(resume=self.run_folder, steps=6)
        self.assertEqual(again.steps, 6)
        about = lab.describe(again.model)
        self.assertEqual((about.width, about.heads, about.views, about.problem), (16, 2, (8, 12), "tsp"))
        self.assertRegex(about.metadata["command"], "^invit train tsp .*--dim 16")
        self.assertEqual(len(invit.solve(invit.generate("tsp", 30), model=again.path, time=0).tour), 30)

    def test_false_and_exceptions_stop(self):
        stopped = lab.train("cvrp", self.run_folder, minutes=10, progress=lambda p: False, **TINY)
        self.assertFalse(stopped.finished)
        with self.assertRaises(ZeroDivisionError):
            lab.train(resume=self.run_folder, progress=lambda p: 1 / 0)

    def test_ctrl_c(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            lab.train("tsp", self.run_folder, minutes=10, **TINY)
        self.assertLess(time.monotonic() - began, 20)
        self.assertGreater(lab.train(resume=self.run_folder, steps=10**6, progress=lambda p: False).steps, 0)

    def test_options(self):
        defaults = {option.name: option.default for option in lab.train_options("cvrp", "reinforce")}
        self.assertEqual((defaults["heads"], defaults["views"]), ("8", "15,35"))
        for pattern, options in (("no option 'dimension': expected one of .*dim", {"dimension": 3}),
                                 ("heads", {"heads": "many"})):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                lab.train("tsp", self.run_folder, **options)
        with self.assertRaisesRegex(invit.InvitError, "expected a problem"):
            lab.train("tsp")
        with self.assertRaisesRegex(invit.InvitError, "cannot change in a resumed run"):
            lab.train(resume=self.run_folder, lr=1e-4)
        with self.assertRaises(invit.InvitError):
            lab.train(resume=os.path.join(self.run_folder, "nowhere"))
        with self.assertWarnsRegex(UserWarning, "gae_lambda=0.5 changes nothing in this run; it is for"):
            lab.train("tsp", self.run_folder, gae_lambda=0.5, steps=1, **TINY)

    def test_a_configuration_file(self):
        path = self.run_folder + ".config"
        pathlib.Path(path).write_text("dim = 32\nsteps = 9\n")
        with contextlib.redirect_stderr(io.StringIO()) as shown:
            result = lab.train("tsp", self.run_folder, config=path, progress=True, steps=2, **TINY)
        self.assertEqual((result.steps, lab.describe(result.path).width), (2, 16))  # what is named wins
        self.assertRegex(shown.getvalue(), r"\rtrain +\[.*step \d")


@unittest.skipIf(lab is None, "there is no libinvit-lab")
class Evaluate(unittest.TestCase):
    def test_generated_sets(self):
        with tempfile.TemporaryDirectory() as scratch:
            results = os.path.join(scratch, "results.csv")
            report = lab.evaluate(sets=["tsp-100", "cvrp-50"], distributions=["uniform"], limit=1, dir=scratch,
                                  reference_effort=0.01, rollouts=1, results=results, threads=1)
            self.assertEqual([t.title[:4] for t in report.tables], ["TSP:", "CVRP", "By s"])
            self.assertEqual([row["instances"] for row in report.tables[2].rows], [1, 1])
            self.assertLess(report.tables[0].rows[0]["TSP-100"], 20)
            self.assertFalse(report.partial or report.failures)
            self.assertIn("tsp100-uniform", str(report))
            self.assertIn("| uniform", report.to_markdown())
            self.assertIn("tsp100-uniform,", report.to_csv())
            xml.etree.ElementTree.fromstring(f"<p>{report._repr_html_()}</p>")
            self.assertGreater(len(pathlib.Path(results).read_text().splitlines()), 2)

    def test_files(self):
        library = DATA / "library"
        report = lab.evaluate([library / "u100.tsp", library / "u50.vrp"], best_known=library / "best_known.csv",
                              model=["tsp-2v", invit.Model("cvrp-2v")], rollouts=2, label="mine", threads=1)
        self.assertIn("mine", str(report))
        self.assertEqual(report.tables[0].rows[0]["instance"], "u100")
        stopped = lab.evaluate(library, best_known=library / "best_known.csv", construct="nearest",
                               progress=lambda p: False)
        self.assertTrue(stopped.partial)

    def test_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        library = DATA / "library"
        report = lab.evaluate(library, best_known=library / "best_known.csv", construct="space-filling", limit=2)
        self.assertIn("instance", report.tables[0].to_frame().columns)

    def test_what_is_refused(self):
        for pattern, arguments in (("sets must be one of tsp-100, .*not 'tsp-7'", {"sets": ["tsp-7"]}),
                                   ("distributions must be one of", {"distributions": ["flat"]}),
                                   ("no option 'rollout'", {"rollout": 3}),
                                   ("two models for tsp", {"model": ["tsp-2v", "tsp-2v"]}),
                                   ("nowhere", {"what": "/nowhere"})):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                lab.evaluate(**arguments)


@unittest.skipIf(lab is None, "there is no libinvit-lab")
class Checkpoints(unittest.TestCase):
    def test_the_weights_are_those_of_the_golden_model(self):
        instance = invit.generate("tsp", 40, seed=2)
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "tiny.safetensors")
            golden = invit.Model(DATA / "golden" / "tsp-tiny.weights.safetensors")
            about = lab.describe(golden)
            model = lab.import_checkpoint(DATA / "golden" / "tsp-tiny.checkpoint.pkl", path, heads=about.heads,
                                          views=about.views, problem="tsp")
            self.assertEqual(lab.describe(path).views, about.views)
            tours = [[d.chosen for d in invit.decisions(instance, m)] for m in (golden, model, path)]
            self.assertEqual(tours[0], tours[1])
            self.assertEqual(tours[0], tours[2])
            lab.save(model, os.path.join(scratch, "half.safetensors"), store="bf16")
            self.assertLess(os.path.getsize(os.path.join(scratch, "half.safetensors")), 0.7 * os.path.getsize(path))
            with self.assertRaisesRegex(invit.InvitError, "written as safetensors"):
                lab.save(model, os.path.join(scratch, "x.pt"))

    def test_what_is_refused(self):
        checkpoint = DATA / "golden" / "tsp-tiny.checkpoint.pkl"
        for pattern, path, options in (("TSP|tsp", checkpoint, {"problem": "cvrp"}), ("heads", checkpoint, {"heads": 0}),
                                       ("views", checkpoint, {"views": []}), ("nowhere", "/nowhere.pkl", {})):
            with self.assertRaisesRegex(invit.InvitError, pattern):
                lab.import_checkpoint(path, **options)
        model = lab.import_checkpoint(checkpoint)
        with self.assertRaisesRegex(invit.InvitError, "without a file"):
            pickle.dumps(model)


if __name__ == "__main__":
    unittest.main()
