// A service worker: keeps the page's files, so that it works without a network. scripts/make-web fills in what they are.
const NAME = "invit-@VERSION@", FILES = [@FILES@];

self.addEventListener("install", (e) => e.waitUntil(caches.open(NAME).then((c) => c.addAll(FILES)).then(() => self.skipWaiting())));
self.addEventListener("activate", (e) => e.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("invit-") && name !== NAME) await caches.delete(name);
  await self.clients.claim();
})()));

// What was kept, else the network. A folder's own address is its index.html.
self.addEventListener("fetch", (e) => {
  if (e.request.method !== "GET" || !e.request.url.startsWith(self.registration.scope)) return;
  const url = new URL(e.request.url);
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  e.respondWith(caches.open(NAME).then((c) => c.match(url, { ignoreSearch: true })).then((kept) => kept ?? fetch(e.request)));
});
