// What lies under the routes: a quiet grid with coordinates, or the tiles of a map server; and the scale.
import { nice, length } from "./units.js";

const MERCATOR = (lat) => Math.log(Math.tan(Math.PI / 4 + lat * Math.PI / 360));
const LATITUDE = (y) => 360 / Math.PI * Math.atan(Math.exp(y)) - 90;

export class Ground {
  constructor() { this.url = null; this.tiles = new Map(); }

  // `view` is the map: its scale and offsets, its size, narrow (degrees of longitude per unit of x), globe.
  draw(c, view, colours) {
    if (this.url && view.globe) this.#drawTiles(c, view);
    else this.#drawGrid(c, view, colours);
  }

  #drawGrid(c, view, colours) {
    const { width: w, height: h, scale, tx, ty, narrow } = view;
    const sx = scale * narrow, step = nice(110 / Math.min(sx, scale)) * 1, digits = Math.max(0, -Math.floor(Math.log10(step)));
    if (!Number.isFinite(step) || step <= 0) return;
    c.lineWidth = 1; c.strokeStyle = colours.grid; c.fillStyle = colours.soft; c.font = "11px system-ui, sans-serif";
    c.beginPath();
    const left = Math.ceil(-tx / sx / step), right = Math.floor((w - tx) / sx / step);
    const low = Math.ceil((ty - h) / scale / step), high = Math.floor(ty / scale / step);
    const degree = (v, signs) => view.globe ? `${Math.abs(v).toFixed(digits)}\u00b0 ${v < 0 ? signs[1] : signs[0]}` : v.toFixed(digits);
    for (let i = left; i <= right; i++) {
      const x = Math.round(tx + sx * step * i) + .5;
      c.moveTo(x, 0); c.lineTo(x, h);
    }
    for (let i = low; i <= high; i++) {
      const y = Math.round(ty - scale * step * i) + .5;
      c.moveTo(0, y); c.lineTo(w, y);
    }
    c.stroke();
    // Whole labels only, apart from each other, and none under the zoom buttons at the right.
    let free = 48;
    for (let i = left; i <= right; i++) {
      const text = degree(step * i, "EW"), x = tx + sx * step * i + 3;
      const end = x + c.measureText(text).width;
      if (x > free && end < w - 52) { c.fillText(text, x, 12); free = end + 10; }
    }
    for (let i = low; i <= high; i++) { const y = ty - scale * step * i; if (y > 24) c.fillText(degree(step * i, "NS"), 3, y - 3); }
  }

  // Every tile is drawn between the places of its corners, since the map is not in Mercator's projection.
  #drawTiles(c, view) {
    const { width: w, height: h, scale, tx, ty, narrow } = view, sx = scale * narrow;
    const zoom = Math.max(0, Math.min(19, Math.round(Math.log2(sx * 360 / 256)))), n = 2 ** zoom;
    const column = (lon) => (lon + 180) / 360 * n, row = (lat) => (1 - MERCATOR(Math.max(-85, Math.min(85, lat))) / Math.PI) / 2 * n;
    const lon = (i) => i / n * 360 - 180, lat = (j) => LATITUDE(Math.PI * (1 - 2 * j / n));
    const i0 = Math.floor(column(-tx / sx)), i1 = Math.floor(column((w - tx) / sx));
    const j0 = Math.max(0, Math.floor(row(ty / scale))), j1 = Math.min(n - 1, Math.floor(row((ty - h) / scale)));
    if ((i1 - i0 + 1) * (j1 - j0 + 1) > 400) return;
    for (let i = i0; i <= i1; i++) for (let j = j0; j <= j1; j++) {
      const image = this.#tile(zoom, (i % n + n) % n, j, view);
      if (!image.ready) continue;
      const x = tx + sx * lon(i), y = ty - scale * lat(j);
      c.drawImage(image, x, y, tx + sx * lon(i + 1) - x + .5, ty - scale * lat(j + 1) - y + .5);
    }
  }
  #tile(z, x, y, view) {
    const url = this.url.replace("{z}", z).replace("{x}", x).replace("{y}", y);
    let image = this.tiles.get(url);
    if (!image) {
      image = new Image();
      image.onload = () => { image.ready = true; view.refresh(); };
      image.referrerPolicy = "strict-origin";
      image.src = url;
      this.tiles.set(url, image);
      if (this.tiles.size > 512) this.tiles.delete(this.tiles.keys().next().value);
    }
    return image;
  }

  // A bar of a round length, in the corner.
  drawScale(c, view, colours, instance) {
    const perPixel = view.globe ? 111195 / view.scale : 1 / view.scale, bar = nice(120 * perPixel);
    if (!Number.isFinite(bar) || bar <= 0) return;
    const px = bar / perPixel, x = view.width - px - 14, y = view.height - 12;
    c.fillStyle = colours.panel; c.globalAlpha = .8; c.fillRect(x - 6, y - 20, px + 12, 28); c.globalAlpha = 1;
    c.strokeStyle = colours.ink; c.lineWidth = 1.5;
    c.beginPath(); c.moveTo(x, y - 4); c.lineTo(x, y); c.lineTo(x + px, y); c.lineTo(x + px, y - 4); c.stroke();
    c.fillStyle = colours.ink; c.font = "11px system-ui, sans-serif";
    c.fillText(view.globe ? length(instance, bar) : `${Number(bar.toPrecision(3))} units`, x + 3, y - 6);
  }
}
