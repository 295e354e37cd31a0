// Runs a program for WebAssembly: node wasm.mjs PROGRAM.wasm
// One that asks for WASI gets what node has of it; one that asks for nothing gets nothing.
import { readFile } from "node:fs/promises";

const path = process.argv[2];
const module = await WebAssembly.compile(await readFile(path));
const wanted = WebAssembly.Module.imports(module);
const started = Date.now();
if (wanted.some((one) => one.module === "wasi_snapshot_preview1")) {
  const { WASI } = await import("node:wasi");
  const wasi = new WASI({ version: "preview1", args: ["program"], env: {}, returnOnExit: true });
  // What a C library without threads leaves open: functions that say that they have done it.
  const env = {};
  for (const one of wanted) if (one.module === "env") env[one.name] = () => 0;
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport, env });
  const code = wasi.start(instance);
  if (code) process.exit(code);
} else {
  if (wanted.length > 0) throw new Error(`it asks for ${JSON.stringify(wanted)}`);
  const instance = await WebAssembly.instantiate(module, {});
  const code = instance.exports.main(0, 0);
  if (code) throw new Error(`it returned ${code}`);
}
console.log(`${path.split("/").pop()}: what it computed is right (${Date.now() - started} ms)`);
