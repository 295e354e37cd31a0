// Runs a program for WebAssembly: node wasm.mjs PROGRAM.wasm
// One that asks for WASI gets what node has of it, and threads if it asks for them; one that asks for nothing gets nothing.
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";
import { Worker, isMainThread, workerData } from "node:worker_threads";

const wasi = new WASI({ version: "preview1", args: ["program"], env: {}, returnOnExit: true });

// What a module asks for. All threads share the memory, and the count of those that have been started.
function imports(module, shared) {
  const given = { wasi_snapshot_preview1: wasi.wasiImport, wasi: {}, env: {} };
  for (const one of WebAssembly.Module.imports(module)) {
    if (one.kind === "memory") given[one.module][one.name] = shared.memory;
    else if (one.module === "wasi" && one.name === "thread-spawn") given.wasi[one.name] = (argument) => start(module, shared, argument);
    // What a C library without threads leaves open: functions that say that they have done it.
    else if (one.module === "env") given.env[one.name] = () => 0;
  }
  return given;
}

// A thread of the program is a worker of node's with an instance of its own.
function start(module, shared, argument) {
  const thread = Atomics.add(shared.started, 0, 1) + 1;
  const worker = new Worker(new URL(import.meta.url), { workerData: { module, shared, thread, argument } });
  worker.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  // A program ends with its main function.
  worker.unref();
  return thread;
}

if (!isMainThread) {
  const { module, shared, thread, argument } = workerData;
  const instance = await WebAssembly.instantiate(module, imports(module, shared));
  // It has a function to start programs with as well, which is not for threads: node would not believe that.
  wasi.initialize({ exports: { memory: shared.memory } });
  instance.exports.wasi_thread_start(thread, argument);
} else {
  const path = process.argv[2];
  const module = await WebAssembly.compile(await readFile(path));
  const wanted = WebAssembly.Module.imports(module);
  const started = Date.now();
  const asksFor = (name) => wanted.some((one) => one.module === name);
  if (asksFor("wasi_snapshot_preview1")) {
    const shared = { started: new Int32Array(new SharedArrayBuffer(4)) };
    if (wanted.some((one) => one.kind === "memory")) shared.memory = sharedMemory(await readFile(path));
    const instance = await WebAssembly.instantiate(module, imports(module, shared));
    const code = wasi.start(instance);
    if (code) process.exit(code);
    if (shared.memory) console.log(`${shared.started[0]} threads were started`);
  } else {
    if (wanted.length > 0) throw new Error(`it asks for ${JSON.stringify(wanted)}`);
    const instance = await WebAssembly.instantiate(module, {});
    const code = instance.exports.main(0, 0);
    if (code) throw new Error(`it returned ${code}`);
  }
  console.log(`${path.split("/").pop()}: what it computed is right (${Date.now() - started} ms)`);
  process.exit(0);
}

// A memory with the limits that the module's import names; node does not tell them.
function sharedMemory(bytes) {
  let at = 8;
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  const skipName = () => {
    const length = number();
    at += length;
  };
  while (at < bytes.length) {
    const section = bytes[at++];
    const end = number() + at;
    if (section === 2) {
      for (let left = number(); left > 0; left--) {
        skipName();
        skipName();
        const kind = bytes[at++];
        if (kind === 0) number();
        else if (kind === 2) {
          at++;
          return new WebAssembly.Memory({ initial: number(), maximum: number(), shared: true });
        } else throw new Error(`an import of kind ${kind}`);
      }
    }
    at = end;
  }
  throw new Error("it has no memory");
}
