// The fields beside the map, and the rules of routes they stand for (the names are the API's).

const $ = (id) => document.getElementById(id);
const USUAL_SPEED = 50; // km/h, where times are needed and nobody said a speed

const globe = (instance) => instance.metric === "haversine";
const plain = (v) => typeof v === "number" && Number.isFinite(v) ? Number(v.toPrecision(12)) : v ?? "";

// Minutes as hours and minutes, where times are of the day.
const hours = (instance, v) => typeof v === "number" && (globe(instance) || instance.clock)
  ? `${Math.floor(v / 60)}:${String(Math.round(v % 60)).padStart(2, "0")}` : plain(v);

export function fillFields(instance) {
  const vehicles = instance.problem === "cvrp";
  document.querySelector(`input[name=problem][value=${instance.problem}]`).checked = true;
  $("limits").hidden = !vehicles;
  $("open").checked = Boolean(instance.open);
  showEnds(instance);
  const own = [instance.distances && "distances", instance.durations && "travel times"].filter(Boolean);
  $("matrices").hidden = !own.length;
  $("matrices").textContent = `Your own ${own.join(" and ")} are used.`;
  showRemarks(instance.remarks ?? []);
  for (const e of document.querySelectorAll(".unit")) e.textContent = globe(instance) ? "km" : "units";
  for (const e of document.querySelectorAll(".speed")) e.textContent = globe(instance) ? "km/h" : "units/min";
  $("speed").placeholder = globe(instance) ? USUAL_SPEED : 1;
  if (vehicles && instance.capacity) $("capacity").value = instance.capacity;
  $("capacity-label").hidden = !instance.demands; // nothing to carry
  if (!vehicles) return;
  $("vehicles").value = typeof instance.vehicles === "number" ? instance.vehicles : "";
  $("fewest").checked = instance.vehicles === "fewest";
  $("max-stops").value = plain(instance.max_stops);
  $("max-length").value = instance.max_length == null ? "" : plain(instance.max_length / (globe(instance) ? 1000 : 1));
  $("max-duration").value = hours(instance, instance.max_duration);
  $("service").value = typeof instance.service === "number" ? instance.service : "";
  $("service").placeholder = Array.isArray(instance.service) ? "table" : "0";
  const leave = instance.time_windows?.[0]?.[0];
  $("leave").value = "8:00";
  if (leave > 0 && instance.clock) $("leave").value = `${Math.floor(leave / 60)}:${String(Math.round(leave % 60)).padStart(2, "0")}`;
  $("speed").value = plain(instance.speed);
  const windows = instance.time_windows?.filter((w, i) => i > 0 && w && (w[0] > 0 || w[1] != null)).length ?? 0;
  $("windows").hidden = !windows;
  $("windows").textContent = `${windows} ${windows === 1 ? "stop has a time window" : "stops have time windows"}`;
}

// What the reader remarked on the table; flags of the program have other names here.
function showRemarks(remarks) {
  $("remarks").hidden = !remarks.length;
  $("remarks").replaceChildren(...remarks.map((text) => {
    const item = document.createElement("li");
    item.textContent = text.replace("--speed or --durations gives others", "set the speed below");
    return item;
  }));
}

// Where one tour begins and ends, by the stops' names.
const NAMED = 1000; // a longer list helps nobody
function showEnds(instance) {
  const count = instance.coords.length;
  $("ends").hidden = instance.problem === "cvrp" || count < 2 || count > NAMED;
  for (const name of ["start_node", "end_node"]) {
    const options = instance.problem === "cvrp" || count > NAMED ? [] : instance.coords.map((_, i) => new Option(instance.labels?.[i] || `Stop ${i + 1}`, i));
    $(name).replaceChildren(new Option("any", ""), ...options);
    $(name).value = instance[name] ?? "";
  }
}

// The instance with what the fields say. A service time per stop stays unless the field has one for all.
export function limitsOf(instance) {
  const next = { ...instance };
  delete next.open;
  if ($("open").checked) next.open = true;
  if (instance.problem !== "cvrp") {
    for (const name of ["start_node", "end_node"]) {
      delete next[name];
      if ($(name).value !== "") next[name] = Number($(name).value);
    }
    return next;
  }
  for (const name of ["max_length", "max_duration", "max_stops", "speed"]) delete next[name];
  const put = (name, id, scale = 1) => { if ($(id).value !== "") next[name] = Number($(id).value) * scale; };
  if (instance.demands) put("capacity", "capacity");
  delete next.vehicles;
  if ($("fewest").checked) next.vehicles = "fewest";
  else if ($("vehicles").value !== "") next.vehicles = Number($("vehicles").value);
  put("max_stops", "max-stops");
  put("max_length", "max-length", globe(instance) ? 1000 : 1);
  put("speed", "speed");
  if ($("max-duration").value.trim() !== "") next.max_duration = $("max-duration").value.trim();
  if ($("service").value !== "") next.service = Number($("service").value);
  else if (!Array.isArray(next.service)) delete next.service;
  const timed = next.service || next.time_windows || next.max_duration;
  if (timed && globe(instance) && next.speed === undefined) next.speed = USUAL_SPEED;
  if (timed && globe(instance)) leaveAt(next);
  return next;
}

// The day begins when the depot opens; times are then minutes of the day.
function leaveAt(next) {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec($("leave").value.trim()) ?? [];
  if (hours === undefined) return;
  next.time_windows = next.time_windows ? [...next.time_windows] : next.coords.map(() => null);
  next.time_windows[0] = [60 * hours + Number(minutes), next.time_windows[0]?.[1] ?? null];
  next.clock = true;
}
