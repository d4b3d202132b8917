// Solved jobs in this browser's own store, so that a reload or a link has them again. The newest few are kept.
const MOST = 8;

function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("invit", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("jobs", { keyPath: "id" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
const answer = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

export async function keep(job) {
  const store = (await open()).transaction("jobs", "readwrite").objectStore("jobs");
  await answer(store.put({ ...job, when: Date.now() }));
  const all = (await answer(store.getAll())).sort((a, b) => b.when - a.when);
  await Promise.all(all.slice(MOST).map(({ id }) => answer(store.delete(id))));
}

export async function find(id) {
  return answer((await open()).transaction("jobs").objectStore("jobs").get(id));
}
