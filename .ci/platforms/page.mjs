// A page with threads, for page.rs: node page.mjs PROGRAM.wasm [THREADS]
// In node the page's thread is node's main thread. With --browser=COMMAND the page is shown to a browser (Chromium without a window), where that thread may not block.
const inNode = typeof process !== "undefined" && process.versions?.node !== undefined;
const threads = inNode ? await import("node:worker_threads") : undefined;
const isWorker = inNode ? !threads.isMainThread : typeof document === "undefined";
const pages = 16384;
const stack = 1 << 20;

// What the crates for JavaScript (wasm-bindgen) import, as far as it is needed. A program that has not been through their tool has numbers for objects; there is one object.
function imports(module, memory, say) {
  const fixed = 1028;
  const global = 2000;
  const known = [
    [/^__wbg_static_accessor_GLOBAL_THIS_/, () => global],
    [/^__wbg_static_accessor_(GLOBAL|SELF|WINDOW)_/, () => 0],
    [/^__wbg_instanceof_Window_/, () => Number(globalThis.document !== undefined)],
    [/^__wbg_static_accessor_TIME_ORIGIN_/, () => performance.timeOrigin],
    [/^__wbg_now_/, () => performance.now()],
    [/^__wbg___wbindgen_is_undefined_/, () => 0],
    [/^__wbindgen_object_clone_ref$/, (object) => object],
    [/^__wbindgen_object_drop_ref$/, () => {}],
    [/^__wbindgen_externref_statics_end$/, () => fixed],
  ];
  const given = { env: { memory }, host: { say } };
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind !== "function" || from === "host") continue;
    given[from] ??= {};
    given[from][name] = known.find(([pattern]) => pattern.test(name))?.[1] ?? ((...values) => {
      throw new Error(`${name}(${values}) is not there`);
    });
  }
  return given;
}

function texts(memory, show) {
  // A decoder takes no shared memory.
  return (at, bytes) => show(new TextDecoder().decode(new Uint8Array(memory.buffer, at, bytes).slice()));
}

async function asWorker({ module, memory, top, locals }, post) {
  const instance = await WebAssembly.instantiate(module, imports(module, memory, texts(memory, (text) => console.error(text))));
  instance.exports.__stack_pointer.value = top;
  instance.exports.__wasm_init_tls(locals);
  post("ready");
  // After the page knows.
  setTimeout(() => instance.exports.thread());
}

// All of it: as many workers as two pools have threads, then the program.
async function asPage(bytes, count, show) {
  const memory = new WebAssembly.Memory({ initial: 512, maximum: pages, shared: true });
  const module = await WebAssembly.compile(bytes);
  const instance = await WebAssembly.instantiate(module, imports(module, memory, texts(memory, show)));
  const { room, check, __tls_size } = instance.exports;
  const ready = [];
  for (let left = 2 * count; left > 0; left--) {
    const data = { module, memory, top: room(stack) + stack, locals: room(__tls_size.value + 64) };
    ready.push(new Promise((resolve, reject) => {
      if (inNode) {
        const worker = new threads.Worker(new URL(import.meta.url), { workerData: data });
        worker.on("message", resolve).on("error", reject);
      } else {
        const worker = new Worker(import.meta.url, { type: "module" });
        worker.onmessage = resolve;
        worker.onerror = (event) => reject(event.message);
        worker.postMessage(data);
      }
    }));
  }
  await Promise.all(ready);
  const started = performance.now();
  check(count);
  show(`what it computed is right (${Math.round(performance.now() - started)} ms)`);
}

if (isWorker) {
  if (inNode) await asWorker(threads.workerData, (text) => threads.parentPort.postMessage(text));
  else onmessage = (event) => asWorker(event.data, postMessage);
} else if (!inNode) {
  const lines = [];
  const tell = (end) => fetch("/end", { method: "POST", body: [...lines, end].join("\n") });
  const bytes = await (await fetch("/program.wasm")).arrayBuffer();
  asPage(bytes, Number(location.hash.slice(1)), (text) => lines.push(text)).then(() => tell("passed"), (error) => tell(`failed: ${error} ${error.stack}`));
} else {
  const { readFile } = await import("node:fs/promises");
  const browser = process.argv.find((argument) => argument.startsWith("--browser="))?.slice("--browser=".length);
  const [path, count] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
  const bytes = await readFile(path);
  if (browser) await inBrowser(browser, bytes, count ?? 3);
  else await asPage(bytes, Number(count ?? 3), (text) => console.log(text));
  process.exit(0);
}

// Serves the page, and starts a browser that looks at it.
async function inBrowser(command, bytes, count) {
  const { createServer } = await import("node:http");
  const { spawn } = await import("node:child_process");
  const { mkdtemp, readFile, rm } = await import("node:fs/promises");
  const folder = await mkdtemp("/tmp/page-");
  const files = {
    "/": ["text/html", "<!doctype html><script type=module src=/page.mjs></script>"],
    "/page.mjs": ["text/javascript", await readFile(new URL(import.meta.url))],
    "/program.wasm": ["application/wasm", bytes],
  };
  const passed = await new Promise((resolve) => {
    const server = createServer(async (request, response) => {
      const [type, body] = files[request.url] ?? ["text/plain", ""];
      // Without these two, a browser has no shared memory.
      response.writeHead(200, { "Content-Type": type, "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" });
      response.end(body);
      if (request.url === "/end") {
        let text = "";
        for await (const part of request) text += part;
        console.log(text);
        resolve(text.endsWith("\npassed"));
      }
    });
    server.listen(0, "127.0.0.1", () => {
      const address = `http://127.0.0.1:${server.address().port}/#${count}`;
      const child = spawn(command, ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${folder}`, address], { stdio: "ignore", detached: true });
      child.on("error", (error) => { console.log(String(error)); resolve(false); });
      const end = () => { try { process.kill(-child.pid, "SIGKILL"); } catch {} };
      process.on("exit", end);
      setTimeout(() => { console.log("no answer within five minutes"); resolve(false); }, 300_000);
    });
  });
  await rm(folder, { recursive: true, force: true }).catch(() => {});
  process.exit(passed ? 0 : 1);
}
