#!/usr/bin/env python3
"""Random tiny instances, solved by `invit` and by trying everything; and a checker of its own, written from the definitions
of the formats alone (TSPLIB 95, CVRPLIB, VRPLIB), which every solution has to pass.

usage: tests/differential.py INVIT [--count N] [--seed S] [--only WORD]

Ends with a line "N passed, N failed"."""
import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile

# ---- distances, as TSPLIB 95 defines them ------------------------------------------------------------------


def nint(x):
    return math.floor(x + 0.5)


def euc(a, b):
    return math.hypot(a[0] - b[0], a[1] - b[1])


def att(a, b):
    r = math.sqrt(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) / 10)
    t = nint(r)
    return t + 1 if t < r else t


def radians(x):
    degrees = math.trunc(x)
    return 3.141592 * (degrees + 5 * (x - degrees) / 3) / 180


def geo(a, b):
    q1 = math.cos(radians(a[1]) - radians(b[1]))
    q2 = math.cos(radians(a[0]) - radians(b[0]))
    q3 = math.cos(radians(a[0]) + radians(b[0]))
    return int(6378.388 * math.acos(max(-1, min(1, 0.5 * ((1 + q1) * q2 - (1 - q1) * q3)))) + 1)


METRICS = {
    "EUC_2D": lambda a, b: nint(euc(a, b)),
    "CEIL_2D": lambda a, b: math.ceil(euc(a, b)),
    "EXACT_2D": euc,
    "ATT": att,
    "GEO": geo,
    "DIMACS": lambda a, b: math.floor(10 * euc(a, b)) / 10,
}

# ---- problems ----------------------------------------------------------------------------------------------


class Problem:
    """n nodes, node 0 is the depot of a CVRP; d[i][j] the distances."""

    def __init__(self, kind, text, d, flags=(), demand=None, capacity=0, limit=math.inf, limit_is_duration=False, service=None,
                 windows=None, vehicles=0, open_routes=False, max_stops=0, ends=(None, None)):
        self.kind, self.text, self.d, self.flags = kind, text, d, list(flags)
        self.n, self.demand, self.capacity = len(d), demand, capacity
        self.limit, self.limit_is_duration = limit, limit_is_duration
        self.service, self.windows = service or [0] * self.n, windows
        self.vehicles, self.open, self.max_stops, self.ends = vehicles, open_routes, max_stops, ends
        self.files, self.frozen = {}, []  # beginnings of routes that stay

    def keeps_frozen(self, route):
        """Whether the route begins with the beginning of which it has a stop, if any."""
        return all(route[:len(f)] == f for f in map(tuple, self.frozen) if set(f) & set(route))

    def route_length(self, route):
        """The length of a route, or None when it breaks a rule."""
        if not self.keeps_frozen(tuple(route)):
            return None
        if sum(self.demand[v] for v in route) > self.capacity or (self.max_stops and len(route) > self.max_stops):
            return None
        path = [0, *route] + ([] if self.open else [0])
        length = sum(self.d[a][b] for a, b in zip(path, path[1:]))
        if length > self.limit + 1e-9 and not self.limit_is_duration:
            return None
        if self.limit_is_duration and length + sum(self.service[v] for v in route) > self.limit + 1e-9:
            return None
        if self.windows:
            t = self.windows[0][0]
            for a, b in zip(path, path[1:]):
                t = max(t + (self.service[a] if a else 0) + self.d[a][b], self.windows[b][0])
                if t > self.windows[b][1] + 1e-9:
                    return None
        return length

    def best(self):
        return self.best_tour() if self.kind == "tsp" else self.best_routes()

    def best_tour(self):
        start, end = self.ends
        path = start is not None or end is not None
        best = math.inf
        nodes = range(self.n) if path or self.frozen else range(1, self.n)
        for order in itertools.permutations(nodes):
            if self.frozen:
                if self.keeps_frozen(order):
                    tour = order if path else (*order, order[0])
                    best = min(best, sum(self.d[a][b] for a, b in zip(tour, tour[1:])))
                continue
            if path and (start is not None and order[0] != start or end is not None and order[-1] != end):
                continue
            tour = order if path else (0, *order, 0)
            best = min(best, sum(self.d[a][b] for a, b in zip(tour, tour[1:])))
        return best

    def best_routes(self):
        customers = self.n - 1
        single = [None] * (1 << customers)
        for size in range(1, customers + 1):
            for chosen in itertools.combinations(range(1, self.n), size):
                mask = sum(1 << (v - 1) for v in chosen)
                lengths = [x for x in map(self.route_length, itertools.permutations(chosen)) if x is not None]
                single[mask] = min(lengths) if lengths else None
        most = self.vehicles or customers
        best = [[math.inf] * (1 << customers) for _ in range(most + 1)]
        best[0][0] = 0
        for k in range(1, most + 1):
            for mask in range(1 << customers):
                low, part = mask & -mask, mask
                best[k][mask] = best[k - 1][mask]
                while part:
                    if part & low and single[part] is not None:
                        best[k][mask] = min(best[k][mask], best[k - 1][mask ^ part] + single[part])
                    part = (part - 1) & mask
        return best[most][-1]

    def check(self, answer):
        """The length of the solution that was printed, or a complaint."""
        if self.kind == "tsp":
            tour = [v - 1 for v in answer["tour"]]
            if sorted(tour) != list(range(self.n)):
                return f"not a tour: {tour}"
            if not self.keeps_frozen(tuple(tour)):
                return f"frozen as {self.frozen}, but begins {tour}"
            start, end = self.ends
            if start is None and end is None:
                tour.append(tour[0])
            elif start is not None and tour[0] != start or end is not None and tour[-1] != end:
                return f"does not go from {start} to {end}: {tour}"
            return sum(self.d[a][b] for a, b in zip(tour, tour[1:]))
        routes = [r for r in answer["routes"] if r]
        if sorted(v for r in routes for v in r) != list(range(1, self.n)):
            return f"not every customer once: {routes}"
        if self.vehicles and len(routes) > self.vehicles:
            return f"{len(routes)} routes for {self.vehicles} vehicles"
        lengths = [self.route_length(r) for r in routes]
        return f"a route breaks a rule: {routes}" if None in lengths else sum(lengths)


# ---- random instances --------------------------------------------------------------------------------------


def points(r, n, metric):
    if metric == "GEO":
        return [(round(r.uniform(-80, 80), 2), round(r.uniform(-170, 170), 2)) for _ in range(n)]
    if metric == "EXACT_2D":
        return [(r.random(), r.random()) for _ in range(n)]
    return [(r.randint(0, 60), r.randint(0, 60)) for _ in range(n)]


def section(name, rows):
    return name + "\n" + "".join(" ".join(map(str, row)) + "\n" for row in rows)


def coordinates(xy):
    return section("NODE_COORD_SECTION", [(i + 1, repr(x), repr(y)) for i, (x, y) in enumerate(xy)])


def matrix_rows(d, form, n):
    cells = {
        "FULL_MATRIX": [(i, j) for i in range(n) for j in range(n)],
        "UPPER_ROW": [(i, j) for i in range(n) for j in range(i + 1, n)],
        "LOWER_ROW": [(i, j) for i in range(n) for j in range(i)],
        "UPPER_DIAG_ROW": [(i, j) for i in range(n) for j in range(i, n)],
        "LOWER_DIAG_ROW": [(i, j) for i in range(n) for j in range(i + 1)],
        "UPPER_COL": [(i, j) for j in range(n) for i in range(j)],
        "LOWER_COL": [(i, j) for j in range(n) for i in range(j + 1, n)],
        "UPPER_DIAG_COL": [(i, j) for j in range(n) for i in range(j + 1)],
        "LOWER_DIAG_COL": [(i, j) for j in range(n) for i in range(j, n)],
    }[form]
    return [[d[i][j]] for i, j in cells]


def table(xy, metric):
    return [[METRICS[metric](a, b) if a is not b else 0 for b in xy] for a in xy]


def plain_tsp(r):
    metric = r.choice(["EUC_2D", "CEIL_2D", "EXACT_2D", "ATT", "GEO"])
    n = r.randint(2, 8)
    xy = points(r, n, metric)
    head = f"NAME: t\nTYPE: TSP\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: {metric}\n"
    return Problem("tsp", head + coordinates(xy) + "EOF\n", table(xy, metric))


def matrix_tsp(r, symmetric=True, path=False):
    n = r.randint(3, 7)
    d = [[r.randint(1, 50) for _ in range(n)] for _ in range(n)]
    for i in range(n):
        d[i][i] = 0
        for j in range(i):
            d[i][j] = d[j][i] if symmetric else d[i][j]
    forms = ["UPPER_ROW", "LOWER_ROW", "UPPER_DIAG_ROW", "LOWER_DIAG_ROW", "UPPER_COL", "LOWER_COL", "UPPER_DIAG_COL",
             "LOWER_DIAG_COL", "FULL_MATRIX"]
    form = r.choice(forms) if symmetric else "FULL_MATRIX"
    head = (f"NAME: m\nTYPE: {'TSP' if symmetric else 'ATSP'}\nDIMENSION: {n}\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
            f"EDGE_WEIGHT_FORMAT: {form}\n")
    ends, flags = (None, None), []
    if path:
        ends = r.choice([(0, None), (None, n - 1), (0, n - 1)])
        for flag, node in zip(("--start-node", "--end-node"), ends):  # ids, from 1
            flags += [flag, str(node + 1)] if node is not None else []
    return Problem("tsp", head + section("EDGE_WEIGHT_SECTION", matrix_rows(d, form, n)) + "EOF\n", d, flags, ends=ends)


def asymmetric_tsp(r):
    return matrix_tsp(r, symmetric=False)


def path_tsp(r):
    return matrix_tsp(r, symmetric=r.random() < 0.5, path=True)


def cvrp(r, limit=False, vehicles=False, open_routes=False, stops=False, windows=False, explicit=False):
    n = r.randint(2, 6) + 1
    metric = "DIMACS" if windows else r.choice(["EUC_2D", "CEIL_2D", "EXACT_2D"])
    xy = points(r, n, metric)
    d = table(xy, metric)
    if explicit:
        symmetric = r.random() < 0.5
        d = [[0 if i == j else r.randint(1, 50) for j in range(n)] for i in range(n)]
        for i in range(n):
            for j in range(i):
                d[i][j] = d[j][i] if symmetric else d[i][j]
    demand = [0] + [r.randint(1, 5) for _ in range(n - 1)]
    capacity = r.randint(max(demand), sum(demand) + 1)
    rules, text, flags = {}, "", []
    if limit:
        there_and_back = max(d[0][v] + d[v][0] for v in range(1, n))
        service = r.choice([0, 5])
        rules["limit"] = math.ceil(r.uniform(1, 2.5) * there_and_back) + service + 1
        rules["limit_is_duration"] = True
        rules["service"] = [0] + [service] * (n - 1)
        text += f"DISTANCE: {rules['limit']}\n" + (f"SERVICE_TIME: {service}\n" if service else "")
    if vehicles:
        rules["vehicles"] = r.randint(1, n - 1)
        text += f"VEHICLES: {rules['vehicles']}\n"
    if open_routes:
        rules["open_routes"] = True
        flags.append("--open")
    if stops:
        rules["max_stops"] = r.randint(1, n - 1)
        flags += ["--max-stops", str(rules["max_stops"])]
    tail = section("DEMAND_SECTION", [(i + 1, q) for i, q in enumerate(demand)]) + "DEPOT_SECTION\n1\n-1\n"
    if windows:
        horizon = 400
        rules["service"] = [0] + [10] * (n - 1)
        rules["windows"] = [(0, horizon)]
        for v in range(1, n):
            first = r.randint(math.ceil(d[0][v]), 200)
            rules["windows"].append((first, first + r.randint(5, 100)))
        text += "SERVICE_TIME: 10\n"
        tail = section("TIME_WINDOW_SECTION", [(i + 1, a, b) for i, (a, b) in enumerate(rules["windows"])]) + tail
    head = f"NAME: c\nTYPE: {'VRPTW' if windows else 'CVRP'}\nDIMENSION: {n}\nCAPACITY: {capacity}\n{text}"
    if explicit:
        head += "EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n" + section("EDGE_WEIGHT_SECTION", d)
    else:
        head += f"EDGE_WEIGHT_TYPE: {'EUC_2D' if metric == 'DIMACS' else metric}\n" + coordinates(xy)
    return Problem("cvrp", head + tail + "EOF\n", d, flags, demand, capacity, **rules)


def solution_file(problem, routes):
    if problem.kind == "tsp":
        return "TOUR_SECTION\n" + "".join(f"{v + 1}\n" for v in routes[0]) + "-1\n"
    return "".join(f"Route #{i + 1}: {' '.join(map(str, r))}\n" for i, r in enumerate(routes))


def beginnings(r, problem):
    """Some routes that keep the rules, without all of their stops."""
    if problem.kind == "tsp":
        return [r.sample(range(problem.n), r.randint(1, problem.n))]
    free, routes = list(range(1, problem.n)), []
    r.shuffle(free)
    while free and len(routes) < (problem.vehicles or 2):
        route = [free.pop() for _ in range(min(len(free), r.randint(1, 3)))]
        while route and problem.route_length(route) is None:
            route.pop()
        routes += [route] if route else []
    return routes


def frozen(r, make):
    """The beginnings stay."""
    problem = make(r)
    routes = beginnings(r, problem)
    if routes:
        problem.frozen = routes
        problem.files["freeze.txt"] = solution_file(problem, routes)
        problem.flags += ["--freeze", "freeze.txt"]
    return problem


def started(r, make):
    """The search begins with routes from which stops are missing; it is free to change them."""
    problem = make(r)
    routes = beginnings(r, problem)
    if routes:
        problem.files["start.txt"] = solution_file(problem, routes)
        problem.flags += ["--start", "start.txt"]
    return problem


def any_cvrp(r):
    windows = r.random() < 0.3
    return cvrp(r, limit=not windows and r.random() < 0.4, vehicles=r.random() < 0.3, open_routes=r.random() < 0.3,
                stops=r.random() < 0.3, windows=windows)


KINDS = {
    "tsp": plain_tsp,
    "tsp matrix": matrix_tsp,
    "tsp asymmetric": asymmetric_tsp,
    "tsp path": path_tsp,
    "cvrp": cvrp,
    "cvrp limit": lambda r: cvrp(r, limit=True),
    "cvrp vehicles": lambda r: cvrp(r, vehicles=True),
    "cvrp open": lambda r: cvrp(r, open_routes=True),
    "cvrp stops": lambda r: cvrp(r, stops=True),
    "cvrp matrix": lambda r: cvrp(r, explicit=True),
    "cvrp windows": lambda r: cvrp(r, windows=True),
    "cvrp all": lambda r: cvrp(r, limit=r.random() < 0.5, vehicles=r.random() < 0.5, open_routes=r.random() < 0.5,
                               stops=r.random() < 0.5, explicit=r.random() < 0.5),
    "tsp frozen": lambda r: frozen(r, matrix_tsp if r.random() < 0.5 else asymmetric_tsp),
    "tsp started": lambda r: started(r, matrix_tsp if r.random() < 0.5 else asymmetric_tsp),
    "cvrp frozen": lambda r: frozen(r, any_cvrp),
    "cvrp started": lambda r: started(r, any_cvrp),
}

# ---- the comparison ----------------------------------------------------------------------------------------


def compare(invit, problem, folder):
    """None, or a complaint."""
    file = os.path.join(folder, "instance.vrp")
    with open(file, "w") as f:
        f.write(problem.text)
    for name, text in problem.files.items():
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    run = subprocess.run([invit, "solve", file, "--json", "-q", "--iterations", "3000", "--threads", "1", *problem.flags],
                         capture_output=True, text=True, timeout=60, cwd=folder)
    best = problem.best()
    if math.isinf(best):
        return None if run.returncode == 1 and run.stderr.startswith("invit:") else \
            f"infeasible, but exit code {run.returncode}: {run.stdout}{run.stderr}"
    if run.returncode != 0:
        return f"exit code {run.returncode}: {run.stderr}"
    answer = json.loads(run.stdout)
    length = problem.check(answer)
    if isinstance(length, str):
        return length
    if abs(length - answer["length"]) > 1e-6 * max(1, length):
        return f"length {answer['length']} is printed, and it is {length}"
    return None if length <= best + 1e-6 * max(1, best) else f"length {length}, but {best} is possible: {answer}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("invit")
    parser.add_argument("--count", type=int, default=20, help="instances of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds whose name contains this")
    o = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make in KINDS.items():
            if o.only not in name:
                continue
            for i in range(o.count):
                problem = make(random.Random(f"{name} {o.seed} {i}"))
                why = compare(os.path.abspath(o.invit), problem, folder)
                if why is None:
                    passed += 1
                    continue
                failed += 1
                print(f"FAILED {name} {i}: {why}\n{problem.text}flags: {problem.flags}\n")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
