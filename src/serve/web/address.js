// The address carries the token and the job: #token=...&job=...

export const hash = (name) => new URLSearchParams(location.hash.slice(1)).get(name);
export function setHash(name, value) {
  const all = new URLSearchParams(location.hash.slice(1));
  if (all.get(name) === value) return;
  if (value) all.set(name, value); else all.delete(name);
  history.replaceState(null, "", all.size ? `#${all}` : location.pathname);
}
