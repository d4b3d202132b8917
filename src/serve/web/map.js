// The map: stops, routes and the policy's views on a canvas, with pan and zoom.
import { Ground } from "./ground.js";

// Stops and routes are drawn once into a bitmap; moving the map moves the bitmap, and it is drawn anew when the hand rests.
// So 100,000 stops stay smooth.

// Okabe and Ito's colours, told apart by colour-blind people too.
export const ROUTE_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7a6a53"];
export const colourOf = (r) => ROUTE_COLOURS[r % ROUTE_COLOURS.length];
const REST_MS = 90;
const REACH = 12;         // pixels within which a stop is meant
const LABELLED = 60;      // up to so many stops all have their names

export class MapView {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.bitmap = document.createElement("canvas");
    this.xy = new Float64Array(0);
    this.depot = false;
    this.routes = null;      // list of lists of node numbers; for CVRP each starts and ends at the depot by itself
    this.open = null;        // the walk under construction: node numbers in order, 0 for the depot in CVRP
    this.overlay = null;     // {last, candidates: [node], probabilities: [p], radii: [r]}
    this.scale = 1; this.tx = 0; this.ty = 0;
    this.drawn = null;       // the transform the bitmap was drawn with
    this.ground = new Ground();
    this.instance = null; this.narrow = 1; this.globe = false;
    this.lit = -1;           // the route that stands out
    this.chosen = -1;        // the stop that is selected
    this.names = null;       // node -> text
    this.crosshair = false;  // drawing with the keyboard: where a stop would go
    this.onclick = null;     // (x, y, node or -1)
    this.onhover = null;     // (node or -1, px, py)
    this.#listen();
    new ResizeObserver(() => this.#resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
  }

  get count() { return this.xy.length / 2; }

  // Where the stops are drawn. On the globe, degrees of longitude shrink with the latitude, and the date line is crossed.
  setInstance(instance, names) {
    const xy = Float64Array.from(instance.coords.flat());
    this.instance = instance; this.names = names;
    this.globe = instance.metric === "haversine";
    this.narrow = 1;
    if (this.globe && xy.length) {
      let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
      for (let i = 0; i < xy.length; i += 2) {
        x0 = Math.min(x0, xy[i]); x1 = Math.max(x1, xy[i]); y0 = Math.min(y0, xy[i + 1]); y1 = Math.max(y1, xy[i + 1]);
      }
      this.narrow = Math.cos((y0 + y1) / 2 * Math.PI / 180);
      for (let i = 0; i < xy.length; i += 2) xy[i] = this.narrow * (x1 - x0 > 180 && xy[i] < 0 ? xy[i] + 360 : xy[i]);
    }
    this.xy = xy; this.depot = instance.problem === "cvrp";
    this.routes = null; this.open = null; this.overlay = null; this.lit = -1; this.chosen = -1;
    this.refresh();
  }
  light(r) { if (r !== this.lit) { this.lit = r; this.refresh(); } }
  choose(node) { if (node !== this.chosen) { this.chosen = node; this.refresh(); } }
  setRoutes(routes) { this.routes = routes; this.open = null; this.overlay = null; this.refresh(); }
  setWalk(order, overlay) { this.open = order; this.routes = null; this.overlay = overlay; this.refresh(); }

  fit() {
    const { clientWidth: w, clientHeight: h } = this.canvas;
    if (!this.count) { this.scale = Math.min(w, h) * 0.9; this.tx = (w - this.scale) / 2; this.ty = (h + this.scale) / 2; }
    else {
      let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
      for (let i = 0; i < this.xy.length; i += 2) {
        x0 = Math.min(x0, this.xy[i]); x1 = Math.max(x1, this.xy[i]);
        y0 = Math.min(y0, this.xy[i + 1]); y1 = Math.max(y1, this.xy[i + 1]);
      }
      // The zoom buttons are at the right, messages and the scale at the bottom, coordinates at the top and left.
      const left = 28, right = 62, top = 30, bottom = 56;
      const iw = Math.max(40, w - left - right), ih = Math.max(40, h - top - bottom);
      this.scale = Math.min(iw / Math.max(x1 - x0, 1e-12), ih / Math.max(y1 - y0, 1e-12));
      if (x1 - x0 < 1e-12 && y1 - y0 < 1e-12) this.scale = Math.min(w, h) / 2;
      this.tx = left + iw / 2 - this.scale * (x0 + x1) / 2;
      this.ty = top + ih / 2 + this.scale * (y0 + y1) / 2;
    }
    this.refresh();
  }

  zoom(factor, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    this.scale *= factor;
    this.tx = px - factor * (px - this.tx);
    this.ty = py - factor * (py - this.ty);
    this.#moved();
  }
  pan(dx, dy) { this.tx += dx; this.ty += dy; this.#moved(); }

  // Draws everything anew on the next frame.
  refresh() { this.drawn = null; this.#schedule(); }

  // The moving hand: show the old bitmap at its new place, and draw it well once the hand rests.
  #moved() {
    clearTimeout(this.rest);
    if (this.count < 3000) { this.refresh(); return; }
    this.rest = setTimeout(() => this.refresh(), REST_MS);
    this.#schedule();
  }
  #schedule() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.#draw(); });
  }
  #resize() {
    const dpr = devicePixelRatio || 1, w = this.canvas.clientWidth, h = this.canvas.clientHeight;
    if (!w || !h) return;
    const first = !this.width;
    for (const c of [this.canvas, this.bitmap]) { c.width = Math.round(w * dpr); c.height = Math.round(h * dpr); }
    if (!first) { this.tx += (w - this.width) / 2; this.ty += (h - this.height) / 2; }
    this.width = w; this.height = h;
    if (first) this.fit(); else this.refresh();
  }

  #x(i) { return this.tx + this.scale * this.xy[2 * i]; }
  #y(i) { return this.ty - this.scale * this.xy[2 * i + 1]; }

  #draw() {
    const dpr = devicePixelRatio || 1, c = this.context;
    if (!this.drawn) {
      this.#drawBase(dpr);
      this.drawn = { scale: this.scale, tx: this.tx, ty: this.ty };
    }
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const k = this.scale / this.drawn.scale;
    c.setTransform(k, 0, 0, k, dpr * (this.tx - k * this.drawn.tx), dpr * (this.ty - k * this.drawn.ty));
    c.drawImage(this.bitmap, 0, 0);
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    if (this.overlay) this.#drawOverlay(c);
    if (this.crosshair) {
      const x = this.width / 2, y = this.height / 2;
      c.strokeStyle = "#d55e00"; c.lineWidth = 2;
      c.beginPath(); c.moveTo(x - 12, y); c.lineTo(x + 12, y); c.moveTo(x, y - 12); c.lineTo(x, y + 12); c.stroke();
    }
  }

  // The stop at a place of the canvas, -1 when there is none.
  nodeAt(px, py) {
    let best = REACH * REACH, found = -1;
    for (let i = 0; i < this.count; i++) {
      const d = (this.#x(i) - px) ** 2 + (this.#y(i) - py) ** 2;
      if (d < best) { best = d; found = i; }
    }
    return found;
  }
  place(px = this.width / 2, py = this.height / 2) {
    return [(px - this.tx) / this.scale / this.narrow, (this.ty - py) / this.scale];
  }

  #colours() {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name);
    return { ink: get("--ink"), bg: get("--bg"), panel: get("--panel"), soft: get("--soft"), grid: get("--grid") };
  }

  #drawBase(dpr) {
    const c = this.bitmap.getContext("2d"), colours = this.#colours();
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.bitmap.width, this.bitmap.height);
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    this.ground.draw(c, this, colours);
    const n = this.count, width = n > 20000 ? 0.6 : n > 2000 ? 1 : 2;
    c.lineJoin = "round";
    if (this.routes) {
      const draw = (r) => {
        c.strokeStyle = colourOf(this.depot ? r : 0);
        c.lineWidth = r === this.lit ? width + 2 : width;
        c.globalAlpha = this.lit >= 0 && r !== this.lit ? .35 : 1;
        const route = this.routes[r];
        this.#line(c, this.depot ? [0, ...route] : route, !this.instance?.open);
      };
      this.routes.forEach((_, r) => { if (r !== this.lit) draw(r); });
      if (this.lit >= 0 && this.lit < this.routes.length) draw(this.lit);
      c.globalAlpha = 1;
    }
    if (this.open?.length) {
      c.strokeStyle = ROUTE_COLOURS[0]; c.lineWidth = width;
      this.#line(c, this.open, false);
    }
    this.#drawStops(c, colours);
    if (n) this.ground.drawScale(c, this, colours, this.instance);
  }

  #drawStops(c, colours) {
    const n = this.count, size = n > 20000 ? 1 : n > 2000 ? 1.6 : n > 500 ? 2.5 : 4, w = this.width, h = this.height;
    c.fillStyle = colours.ink;
    for (let i = this.depot ? 1 : 0; i < n; i++) {
      const x = this.#x(i), y = this.#y(i);
      if (x < -5 || y < -5 || x > w + 5 || y > h + 5) continue;
      if (size > 2) { c.beginPath(); c.arc(x, y, size, 0, 7); c.fill(); }
      else c.fillRect(x - size / 2, y - size / 2, size, size);
    }
    if (this.lit >= 0 && this.routes?.[this.lit]?.length <= 200) this.#drawNumbers(c, this.routes[this.lit]);
    if (this.depot && n) {
      const x = this.#x(0), y = this.#y(0);
      c.fillStyle = colours.ink; c.strokeStyle = colours.bg; c.lineWidth = 2;
      c.beginPath(); c.moveTo(x, y - 10); c.lineTo(x + 9, y - 2); c.lineTo(x + 9, y + 8); c.lineTo(x - 9, y + 8); c.lineTo(x - 9, y - 2);
      c.closePath(); c.fill(); c.stroke();
    }
    if (this.chosen >= 0 && this.chosen < n) {
      c.strokeStyle = colours.ink; c.lineWidth = 2.5;
      c.beginPath(); c.arc(this.#x(this.chosen), this.#y(this.chosen), 12, 0, 7); c.stroke();
    }
    if (this.names && n <= LABELLED) this.#drawNames(c, colours);
  }

  // The order within the route that stands out.
  #drawNumbers(c, route) {
    c.font = "bold 11px system-ui, sans-serif"; c.textAlign = "center"; c.textBaseline = "middle";
    route.forEach((node, k) => {
      const x = this.#x(node), y = this.#y(node);
      c.fillStyle = "#1d1f24"; c.strokeStyle = "#fff"; c.lineWidth = 1.5;
      c.beginPath(); c.arc(x, y, 9, 0, 7); c.fill(); c.stroke();
      c.fillStyle = "#fff"; c.fillText(k + 1, x, y + .5);
    });
    c.textAlign = "start"; c.textBaseline = "alphabetic";
  }

  // Names where they do not run into each other.
  #drawNames(c, colours) {
    const taken = [];
    c.font = "12px system-ui, sans-serif"; c.lineWidth = 3; c.strokeStyle = colours.bg; c.fillStyle = colours.ink;
    for (let i = 0; i < this.count; i++) {
      const text = this.names(i);
      if (!text) continue;
      const short = text.length > 22 ? `${text.slice(0, 21)}\u2026` : text, x = this.#x(i) + 12, y = this.#y(i) + 4, tw = c.measureText(short).width;
      const box = [x, y - 10, x + tw, y + 3];
      if (box[2] > this.width || taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
      taken.push(box);
      c.strokeText(short, x, y); c.fillText(short, x, y);
    }
  }

  // Consecutive points closer than half a pixel are one point: that is the level of detail.
  #line(c, order, closed) {
    if (!order.length) return;
    let px = this.#x(order[0]), py = this.#y(order[0]);
    c.beginPath(); c.moveTo(px, py);
    for (let k = 1; k < order.length; k++) {
      const x = this.#x(order[k]), y = this.#y(order[k]);
      if (Math.abs(x - px) + Math.abs(y - py) < 0.5 && k < order.length - 1) continue;
      c.lineTo(x, y); px = x; py = y;
    }
    if (closed) c.closePath();
    c.stroke();
  }

  #drawOverlay(c) {
    const { last, candidates, probabilities, radii } = this.overlay, x = this.#x(last), y = this.#y(last);
    radii.forEach((r, i) => {
      c.beginPath(); c.arc(x, y, r * this.scale, 0, 7);
      c.fillStyle = i ? "rgba(86,180,233,.10)" : "rgba(230,159,0,.16)";
      c.strokeStyle = i ? "rgba(86,180,233,.7)" : "rgba(230,159,0,.9)";
      c.lineWidth = 1.2; c.fill(); c.stroke();
    });
    candidates.forEach((node, j) => {
      const p = probabilities[j];
      c.beginPath(); c.arc(this.#x(node), this.#y(node), 4 + 6 * Math.sqrt(p), 0, 7);
      c.fillStyle = `hsl(${45 - 25 * p} 95% ${75 - 30 * p}%)`; c.fill();
      c.strokeStyle = "#00000066"; c.lineWidth = 1; c.stroke();
    });
    c.beginPath(); c.arc(x, y, 6, 0, 7); c.fillStyle = "#d55e00"; c.fill();
  }

  #listen() {
    const { canvas } = this, fingers = new Map();
    let moved = 0, spread = 0;
    const place = (e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    canvas.addEventListener("pointerdown", (e) => {
      try { canvas.setPointerCapture(e.pointerId); } catch { /* a synthetic pointer has nothing to capture */ }
      fingers.set(e.pointerId, place(e)); moved = fingers.size > 1 ? 1e9 : 0; spread = 0;
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!fingers.has(e.pointerId)) {
        if (this.count <= 20000) this.onhover?.(this.nodeAt(...place(e)), ...place(e));
        return;
      }
      const [x, y] = place(e), [ox, oy] = fingers.get(e.pointerId);
      fingers.set(e.pointerId, [x, y]);
      moved += Math.abs(x - ox) + Math.abs(y - oy);
      if (fingers.size === 2) {
        const [a, b] = [...fingers.values()], d = Math.hypot(a[0] - b[0], a[1] - b[1]);
        if (spread) this.zoom(d / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
        spread = d;
      } else if (moved > 5) this.pan(x - ox, y - oy);
    });
    const up = (e) => {
      if (!fingers.delete(e.pointerId)) return;
      if (e.type === "pointerup" && moved <= 5 && fingers.size === 0) {
        const [x, y] = place(e);
        this.onclick?.(...this.place(x, y), this.nodeAt(x, y));
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.onhover?.(-1, 0, 0));
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), ...place(e));
    }, { passive: false });
  }
}
