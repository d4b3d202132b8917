// The film: the policy's decisions one by one, then every better solution, on a time line.
import { drawCurve } from "./curve.js";
import * as units from "./units.js";

const WATCHED = 20000; // the server's own limit
const $ = (id) => document.getElementById(id);

export class Film {
  constructor(plan, map) {
    this.plan = plan; this.map = map;
    this.now = 0;          // 0..steps.length are decisions, then one place per solution
    this.playing = true;
    this.shown = false;    // is the tab open?
    $("first").onclick = () => this.go(0);
    $("back").onclick = () => this.go(this.now - 1);
    $("forward").onclick = () => this.go(this.now + 1);
    $("final").onclick = () => this.go(this.total);
    $("play").onclick = () => this.play(!this.playing);
    $("scrub").oninput = (e) => this.go(Number(e.target.value));
    this.play(true);
    requestAnimationFrame(() => this.#tick());
  }

  get total() { return this.plan.steps.length + this.plan.shots.length; }

  go(to) {
    this.play(false);
    this.now = Math.max(0, Math.min(this.total, to));
    this.show();
  }
  play(on) {
    this.playing = on;
    $("play").textContent = on ? "II" : "\u25B7";
    $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  }
  rewind() { this.now = 0; this.play(true); this.show(); }

  show() {
    const { steps, shots, instance } = this.plan;
    this.now = Math.min(this.now, this.total);
    $("scrub").max = this.total; $("scrub").value = this.now;
    const shot = this.now > steps.length ? shots[this.now - steps.length - 1] : null;
    const text = !this.total ? "nothing yet" : shot ? `${shot.stage} at ${shot.t.toFixed(2)} s: ${units.length(instance, shot.length)}`
      : `decision ${this.now} of ${steps.length}`;
    $("moment").textContent = text;
    this.#explain();
    $("scrub").setAttribute("aria-valuetext", text);
    if (!this.shown) return;
    drawCurve($("curve"), shots, this.now - steps.length - 1, (v) => units.length(instance, v));
    if (shot) this.map.setRoutes(shot.routes);
    else if (this.total) {
      const order = steps.slice(0, this.now).map((s) => s[0]), next = steps[this.now];
      const overlay = next && order.length ? { last: order.at(-1), candidates: next[1], probabilities: next[2], radii: next[3] } : null;
      this.map.setWalk(order, overlay);
    } else this.map.setRoutes(this.plan.routes);
  }

  // Why there are no decisions to show.
  #explain() {
    const { steps, shots, routes, instance } = this.plan, missing = Boolean(routes) && !steps.length;
    const why = !shots.length ? "These routes were made by hand, or were solved before: there is no film of them."
      : this.plan.from ? "Solved on from routes that were there: the film has only the improvements."
      : instance.coords.length > WATCHED ? `Decisions are recorded up to ${units.number(WATCHED)} stops: the film has only the improvements.`
      : "The policy has not built these routes: it knows nothing of time windows and matrices (stops were inserted one by one), " +
        "or had no time. The film has only the improvements.";
    $("film-note").hidden = !missing;
    $("film-note").textContent = missing ? why : "";
    $("built-by").textContent = missing ? "At first" : "Built by the policy";
    $("legend").hidden = missing;
  }

  // Plays decisions so that a construction takes some seconds whatever its size, then one improvement a frame.
  #tick() {
    if (this.playing && this.now < this.total) {
      const count = this.plan.steps.length, stride = this.now < count ? Math.max(1, Math.ceil(count / 300)) : 1;
      this.now = this.now < count ? Math.min(count, this.now + stride) : this.now + 1;
      this.show();
    }
    requestAnimationFrame(() => this.#tick());
  }
}
