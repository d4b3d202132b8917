// A .zip of a few texts, stored as they are.

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});
const crc32 = (bytes) => ~bytes.reduce((c, b) => TABLE[(c ^ b) & 255] ^ (c >>> 8), 0xffffffff) >>> 0;

// Numbers of 2 or 4 bytes, the lowest first: [[size, value], ...].
function pack(...fields) {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of fields) { if (size === 2) view.setUint16(at, value, true); else view.setUint32(at, value, true); at += size; }
  return new Uint8Array(view.buffer);
}

// `files`: [[name, bytes], ...]; names in UTF-8.
export function makeZip(files, now = new Date()) {
  const time = now.getHours() << 11 | now.getMinutes() << 5 | now.getSeconds() >> 1;
  const date = Math.max(0, now.getFullYear() - 1980) << 9 | now.getMonth() + 1 << 5 | now.getDate();
  const parts = [], directory = [];
  let at = 0, listed = 0;
  for (const [name, bytes] of files) {
    const label = new TextEncoder().encode(name);
    const about = [[2, 20], [2, 0x800], [2, 0], [2, time], [2, date], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, label.length], [2, 0]];
    const head = pack([4, 0x04034b50], ...about);
    const entry = pack([4, 0x02014b50], [2, 20], ...about, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]);
    parts.push(head, label, bytes);
    directory.push(entry, label);
    at += head.length + label.length + bytes.length;
    listed += entry.length + label.length;
  }
  const end = pack([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, listed], [4, at], [2, 0]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
