// The solver, in a worker of its own: one message per call, {id, call, args}; answers {id, text} (JSON), and on the way
// {id, event, text}. Offered are the calls of web.c.
importScripts("invit.js");

let current = 0; // the call that tells events
const solver = createInvit({ onevent: (event, text) => postMessage({ id: current, event, text }) });

// Weights lie beside the page. Put where the library looks for them, before the first solve.
let weights = null;
async function fetchWeights(module) {
  module.FS.mkdir("/models");
  await Promise.all(["tsp-2v", "cvrp-2v"].map(async (name) => {
    const response = await fetch(`models/${name}.safetensors`);
    if (!response.ok) throw new Error(`models/${name}.safetensors is not there (${response.status})`);
    module.FS.writeFile(`/models/${name}.safetensors`, new Uint8Array(await response.arrayBuffer()));
  }));
}

const noMemory = () => new Error("the browser gave no more memory");
function allocate(module, bytes) {
  const at = module._malloc(bytes || 1);
  if (!at) throw noMemory();
  return at;
}
function copyText(module, text) {
  const bytes = module.lengthBytesUTF8(text) + 1, at = allocate(module, bytes);
  module.stringToUTF8(text, at, bytes);
  return at;
}
function takeText(module, at) {
  if (!at) throw noMemory();
  const text = module.UTF8ToString(at);
  module._free(at);
  return text;
}
// Texts and bytes are copied into the module for the call; numbers go as they are.
function call(module, name, args) {
  const held = [], flat = [];
  try {
    for (const arg of args) {
      if (typeof arg === "number") { flat.push(arg); continue; }
      const at = typeof arg === "string" ? copyText(module, arg) : allocate(module, arg.byteLength);
      held.push(at); flat.push(at);
      if (typeof arg !== "string") { module.HEAPU8.set(new Uint8Array(arg), at); flat.push(arg.byteLength); }
    }
    return takeText(module, module[`_web_${name}`](...flat));
  } finally {
    held.forEach((at) => module._free(at));
  }
}

let last = Promise.resolve(); // one after the other, also while weights are fetched
onmessage = ({ data: { id, call: name, args } }) => {
  last = last.then(async () => {
    try {
      const module = await solver;
      if (name === "solve") await (weights ??= fetchWeights(module));
      current = id;
      postMessage({ id, text: call(module, name, args) });
    } catch (e) {
      postMessage({ id, fault: e.message ?? String(e) });
    }
  });
};
