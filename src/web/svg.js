// The routes as a picture, drawn without cairo.
import { colourOf } from "./map.js";
import { placed } from "./plan.js";

const SIDE = 800, EDGE = 20;
const escape = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

export function drawSvg(given, routes) {
  const instance = placed(given);
  const globe = instance.metric === "haversine", ys = instance.coords.map((p) => p[1]);
  const bound = (list, f) => list.reduce((a, b) => f(a, b));
  const narrow = globe ? Math.cos((bound(ys, Math.min) + bound(ys, Math.max)) / 2 * Math.PI / 180) : 1;
  const xs = instance.coords.map((p) => narrow * p[0]);
  const x0 = bound(xs, Math.min), y1 = bound(ys, Math.max), w = bound(xs, Math.max) - x0, h = y1 - bound(ys, Math.min);
  const k = (SIDE - 2 * EDGE) / Math.max(w, h, 1e-12), cvrp = instance.problem === "cvrp";
  const at = (node) => `${(EDGE + k * (xs[node] - x0)).toFixed(1)},${(EDGE + k * (y1 - ys[node])).toFixed(1)}`;
  const size = instance.coords.length > 2000 ? 1 : 3;
  const lines = routes.map((route, r) => {
    const order = cvrp ? [0, ...route] : route, points = (instance.open ? order : [...order, order[0]]).map(at).join(" ");
    return `<polyline points="${points}" fill="none" stroke="${colourOf(cvrp ? r : 0)}" stroke-width="${size > 1 ? 1.5 : 0.7}"/>`;
  });
  const dots = instance.coords.map((_, node) => {
    const [x, y] = at(node).split(",");
    return cvrp && node === 0 ? `<rect x="${x - 6}" y="${y - 6}" width="12" height="12"/>` : `<circle cx="${x}" cy="${y}" r="${size}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${(k * w + 2 * EDGE).toFixed(0)} ${(k * h + 2 * EDGE).toFixed(0)}">\n` +
    `<title>${escape(instance.name ?? "routes")}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n${[...lines, ...dots].join("\n")}\n</svg>\n`;
}
