// Talks to the server: one function per call of the JSON API (see /v1/openapi.json). src/web/api.js has the same
// functions for the page that needs no server.
import { hash } from "./address.js";
export { hash, setHash } from "./address.js";

export const seconds = 5; // what the page suggests
export const where = `Solved by the server at ${location.host}.`;

async function send(method, path, body, type = "application/json") {
  const headers = {};
  const token = hash("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = type;
  const response = await reach(path, { method, headers, body });
  if (response.ok) return response;
  let data = null;
  try { data = JSON.parse(await response.text()); } catch { /* not JSON: an error page */ }
  throw Object.assign(new Error(data?.error?.message ?? `${response.status} ${response.statusText}`), { needs: data?.error?.needs });
}
const ask = async (...what) => (await send(...what)).json();

// The browser says "network error" or "Failed to fetch"; a person wants to know what does not answer.
async function reach(path, options) {
  try { return await fetch(path, options); } catch (e) { throw lost(e); }
}
const lost = (e) => e.name === "AbortError" ? e : new Error(`the server at ${location.host} does not answer; is invit serve still running?`);

export const generate = (what) => ask("POST", "/v1/generate", JSON.stringify(what));
// The file as it is: read as text here, names in Windows-1252 and NumPy arrays would be lost.
export const parse = (file, capacity) => ask("POST",
  `/v1/parse?name=${encodeURIComponent(file.name)}${capacity ? `&capacity=${capacity}` : ""}`, file, "application/octet-stream");
export const config = () => ask("GET", "/v1/config");
export const instance = (id) => ask("GET", `/v1/jobs/${id}/instance`);
export const submit = (job) => ask("POST", "/v1/jobs", JSON.stringify(job));
export const cancel = (id) => ask("DELETE", `/v1/jobs/${id}`);
// As bytes: read as text, a byte order mark would be lost.
export const download = async (id, format, route) =>
  (await send("GET", `/v1/jobs/${id}/solution?format=${format}${route ? `&route=${route}` : ""}`)).blob();

// Follows a job: calls on(eventName, data) until the stream ends. fetch instead of EventSource, which cannot send a token.
export async function follow(id, on, signal) {
  const headers = { Accept: "text/event-stream" };
  const token = hash("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await reach(`/v1/jobs/${id}/events`, { headers, signal });
  if (!response.ok) throw new Error(response.status === 404 ? "the server does not know this job (any more)" : `${response.status} ${response.statusText}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((e) => { throw lost(e); });
    if (done) return;
    rest += value;
    let end;
    while ((end = rest.indexOf("\n\n")) >= 0) {
      const lines = rest.slice(0, end).split("\n");
      rest = rest.slice(end + 2);
      let name = "message", data = "";
      for (const line of lines) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data) on(name, JSON.parse(data));
    }
  }
}
