// The map: stops, routes and the policy's views on a canvas, with pan and zoom.
// Stops and routes are drawn once into a bitmap; moving the map moves the bitmap, and it is drawn anew when the hand rests.
// So 100,000 stops stay smooth.

// Okabe and Ito's colours, told apart by colour-blind people too.
const ROUTE_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7a6a53"];
const REST_MS = 90;

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
    this.onclick = null;
    this.#listen();
    new ResizeObserver(() => this.#resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.refresh());
  }

  get count() { return this.xy.length / 2; }

  setStops(xy, depot) {
    this.xy = xy; this.depot = depot; this.routes = null; this.open = null; this.overlay = null;
    this.refresh();
  }
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
      const margin = Math.min(40, 0.06 * Math.min(w, h));
      this.scale = Math.min((w - 2 * margin) / Math.max(x1 - x0, 1e-12), (h - 2 * margin) / Math.max(y1 - y0, 1e-12));
      if (x1 - x0 < 1e-12 && y1 - y0 < 1e-12) this.scale = Math.min(w, h) / 2;
      this.tx = w / 2 - this.scale * (x0 + x1) / 2;
      this.ty = h / 2 + this.scale * (y0 + y1) / 2;
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
  }

  #drawBase(dpr) {
    const c = this.bitmap.getContext("2d"), style = getComputedStyle(document.documentElement);
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.bitmap.width, this.bitmap.height);
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    const n = this.count, width = n > 20000 ? 0.6 : n > 2000 ? 1 : 1.8;
    c.lineJoin = "round"; c.lineWidth = width;
    if (this.routes) this.routes.forEach((route, r) => {
      c.strokeStyle = ROUTE_COLOURS[this.depot ? r % ROUTE_COLOURS.length : 0];
      this.#line(c, this.depot ? [0, ...route] : route, true);
    });
    if (this.open?.length) {
      c.strokeStyle = ROUTE_COLOURS[0];
      this.#line(c, this.open, false);
    }
    const size = n > 20000 ? 1 : n > 2000 ? 1.6 : n > 500 ? 2.5 : 4;
    c.fillStyle = style.getPropertyValue("--ink");
    const w = this.width, h = this.height;
    for (let i = this.depot ? 1 : 0; i < n; i++) {
      const x = this.#x(i), y = this.#y(i);
      if (x < -5 || y < -5 || x > w + 5 || y > h + 5) continue;
      if (size > 2) { c.beginPath(); c.arc(x, y, size, 0, 7); c.fill(); }
      else c.fillRect(x - size / 2, y - size / 2, size, size);
    }
    if (this.depot && n) {
      const x = this.#x(0), y = this.#y(0);
      c.fillStyle = "#d55e00"; c.strokeStyle = style.getPropertyValue("--bg"); c.lineWidth = 2;
      c.fillRect(x - 7, y - 7, 14, 14); c.strokeRect(x - 7, y - 7, 14, 14);
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
      if (!fingers.has(e.pointerId)) return;
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
        this.onclick?.((x - this.tx) / this.scale, (this.ty - y) / this.scale);
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), ...place(e));
    }, { passive: false });
  }
}
