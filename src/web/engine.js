// A worker that solves, as promises.

export class Engine {
  #worker = new Worker("./worker.js");
  #calls = new Map();
  #next = 1;

  constructor() {
    this.#worker.onmessage = ({ data: { id, text, event, fault } }) => {
      const call = this.#calls.get(id);
      if (!call) return;
      if (event) { call.on?.(event, JSON.parse(text)); return; }
      this.#calls.delete(id);
      const answer = fault ? { error: { message: fault } } : JSON.parse(text);
      if (answer.error) call.reject(Object.assign(new Error(answer.error.message), { needs: answer.error.needs }));
      else call.resolve(answer);
    };
    this.#worker.onerror = (e) => { e.preventDefault(); this.end(new Error(`the solver could not start: ${e.message ?? "worker.js"}`)); };
  }

  // on(event, data) hears of what happens on the way.
  call(name, args, on) {
    return new Promise((resolve, reject) => {
      const id = this.#next++;
      this.#calls.set(id, { resolve, reject, on });
      this.#worker.postMessage({ id, call: name, args });
    });
  }

  // WebAssembly that runs hears no messages: the worker itself is ended, and what it was asked with it.
  end(reason = new DOMException("stopped", "AbortError")) {
    this.#worker.terminate();
    for (const { reject } of this.#calls.values()) reject(reason);
    this.#calls.clear();
  }
}
