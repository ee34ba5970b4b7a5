// SPDX-License-Identifier: GPL-3.0-or-later
// The files of luts/ as pwlc makes them where it is WebAssembly: the same bytes. Every third table, unless
// PWL_TEST_LONG=1.
//
//     node test_luts.mjs BUILT LUTS
import {copyFile, mkdtemp, readFile, rm, writeFile} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";

// What the module of a worker asks of its surroundings.
globalThis.self = globalThis;
globalThis.importScripts = () => {};
globalThis.location = {href: "file:///"};

const [built, luts] = process.argv.slice(2).map(path => resolve(path));
// Node takes no .js for a module without this package.json.
const folder = await mkdtemp(join(tmpdir(), "page-"));
await writeFile(`${folder}/package.json`, '{"type": "module"}');
for (const name of ["pwlc.js", "pwlc-module.js"])
  await copyFile(`${built}/${name}`, `${folder}/${name}`);
const {run} = await import(`${folder}/pwlc.js`);
await rm(folder, {recursive: true});
const module = await WebAssembly.compile(await readFile(`${built}/pwlc.wasm`));
let failed = 0;

async function pwlc(argv, files, name) {
  const result = await run(module, [...argv, "-o", name], files);
  if (result.code !== 0)
    throw new Error(`pwlc ${argv.join(" ")}: exit ${result.code}: ${result.err}`);
  return result.files[name];
}

async function compare(path, bytes) {
  const same = Buffer.compare(bytes, await readFile(`${luts}/${path}`)) === 0;
  console.log(`${same ? "ok" : "not ok"} - ${path}`);
  failed += !same;
}

const step = process.env.PWL_TEST_LONG === "1" ? 1 : 3;
const jobs = JSON.parse(await readFile(`${luts}/specs/standard.json`)).filter((_, i) => i % step === 0);
for (const job of jobs) {
  const limit = job.max_err ? ["--max-err", `${job.max_err}`] : [], file = `${job.name}.json`, name = `pwl_${job.name}`;
  const table = await pwlc(["fit", job.function, "--in", job.in, "--out", job.out, ...limit], {}, file);
  await compare(`tables/${file}`, table);
  const emit = flags => pwlc(["emit", file, "--name", name, ...flags], {[file]: table}, `${name}.h`);
  await compare(`${name}.h`, await emit([]));
  await compare(`standalone/${name}.h`, await emit(["--standalone"]));
}
if (jobs.length === 0)
  throw new Error("no job in luts/specs");
process.exit(failed ? 1 : 0);
