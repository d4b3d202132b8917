// Lengths, times and loads as a planner reads them.

const globe = (instance) => instance.metric === "haversine";

export const number = (v, digits = 0, least = 0) => v.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: least });

export const stops = (n) => `${number(n)} ${n === 1 ? "stop" : "stops"}`;
export const load = (v) => number(v, 3);

// Metres on the globe; elsewhere the file's own units, which have no name.
export function length(instance, v) {
  if (v == null || !Number.isFinite(v)) return "-";
  if (globe(instance)) return Math.abs(v) < 995 ? `${Math.round(v)} m` : `${number(v / 1000, ...(Math.abs(v) < 999950 ? [1, 1] : []))} km`;
  return Math.abs(v) >= 1000 ? number(v) : v === 0 ? "0" : v.toPrecision(4);
}
export const unit = (instance) => globe(instance) ? "km" : "units";
export function difference(instance, v) { return `${v < 0 ? "\u2212" : "+"}${length(instance, Math.abs(v))}`; }

const two = (v) => String(Math.floor(v)).padStart(2, "0");
const minutes = (instance) => globe(instance) || instance.clock;

// A moment: hh:mm where times are minutes of the day, else the number as it is.
export function moment(instance, v) {
  if (v == null || !Number.isFinite(v)) return "";
  const rounded = Math.round(v);
  return minutes(instance) ? `${two(rounded / 60)}:${two(rounded % 60)}` : number(v, 1);
}
// "09:00 to 10:00", "from 09:00", "until 10:00".
export function window(instance, w) {
  const [early, late] = [w?.[0] > 0 ? moment(instance, w[0]) : "", moment(instance, w?.[1])];
  return early && late ? `${early} to ${late}` : early ? `from ${early}` : late ? `until ${late}` : "";
}
export function duration(instance, v) {
  if (v == null || !Number.isFinite(v)) return "-";
  if (!minutes(instance)) return number(v, 1);
  const rounded = Math.round(v);
  return rounded < 60 ? `${rounded} min` : `${Math.floor(rounded / 60)} h ${two(rounded % 60)}`;
}

// Between two stops, for placing a stop by hand and for the scale; the server has the last word on lengths.
export function distance(instance, a, b) {
  if (instance.distances) return instance.distances[a][b];
  const [ax, ay] = instance.coords[a], [bx, by] = instance.coords[b];
  if (!globe(instance)) return Math.hypot(ax - bx, ay - by);
  const rad = Math.PI / 180, h = Math.sin((by - ay) * rad / 2) ** 2 + Math.cos(ay * rad) * Math.cos(by * rad) * Math.sin((bx - ax) * rad / 2) ** 2;
  return 2 * 6371000 * Math.asin(Math.min(1, Math.sqrt(h)));
}

// 1, 2 or 5 times a power of ten, at most v.
export function nice(v) {
  const power = 10 ** Math.floor(Math.log10(v)), k = v / power;
  return (k >= 5 ? 5 : k >= 2 ? 2 : 1) * power;
}
