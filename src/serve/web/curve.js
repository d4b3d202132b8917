// Length over time, as a small step chart.

export function drawCurve(canvas, points, now, format) {
  const dpr = devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = w * dpr; canvas.height = h * dpr;
  const c = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.font = "11px system-ui, sans-serif";
  c.fillStyle = style.getPropertyValue("--soft");
  if (!points.length) { c.fillText("length over time", 4, 14); return; }
  const left = 4, right = w - 4, top = 16, bottom = h - 16;
  const end = Math.max(points.at(-1).t, 1e-3), values = points.map((p) => p.length);
  const low = Math.min(...values), high = Math.max(...values, low * 1.0001);
  const x = (t) => left + (right - left) * t / end, y = (v) => bottom - (bottom - top) * (v - low) / (high - low);
  c.strokeStyle = style.getPropertyValue("--line");
  c.strokeRect(left + .5, top + .5, right - left - 1, bottom - top - 1);
  c.strokeStyle = style.getPropertyValue("--accent"); c.lineWidth = 1.8;
  c.beginPath();
  points.forEach((p, i) => {
    if (!i) c.moveTo(x(p.t), y(p.length));
    else { c.lineTo(x(p.t), y(points[i - 1].length)); c.lineTo(x(p.t), y(p.length)); }
  });
  c.stroke();
  if (now >= 0 && now < points.length) {
    c.fillStyle = "#d55e00";
    c.beginPath(); c.arc(x(points[now].t), y(points[now].length), 4, 0, 7); c.fill();
  }
  c.fillStyle = style.getPropertyValue("--soft");
  c.fillText(format(high), left + 2, top - 4);
  c.fillText(format(low), left + 2, bottom + 12);
  const label = `${end.toFixed(1)} s`;
  c.fillText(label, right - c.measureText(label).width, bottom + 12);
}
