// SPDX-License-Identifier: GPL-3.0-or-later
// Runs pwlc beside the page: first what it can be asked, then a table and all that is shown of it, step by step. The
// page ends this worker to cancel.
import {run} from "./pwlc.js";

const TARGETS = "ice40,ice40-dsp,xc7,xc7-nodsp,ecp5,ecp5-nodsp,generic";
const TEXTS = [
  {title: "C header with its own evaluation", flags: ["--format", "c", "--standalone"], ending: "h"},
  {title: "C header for libpwl", flags: ["--format", "c"], ending: "h"},
  {title: "SystemVerilog", flags: ["--format", "sv"], ending: "sv"},
  {title: "NumPy", flags: ["--format", "npy"], ending: "py", read: numpy},
  {title: "JSON", flags: ["--format", "json"], ending: "json"},
];
const FILE = "table.json";

const tell = content => postMessage({kind: "progress", content});
const text = bytes => new TextDecoder().decode(bytes);

async function describe(module) {
  const [functions, flags] = await Promise.all([run(module, ["list", "functions", "--format", "json"]),
                                                run(module, ["--completion", "json"])]);
  const {fit, explore} = JSON.parse(flags.out);
  return {functions: JSON.parse(functions.out).functions, fit: fit.flags, explore: explore.flags.map(({name}) => name)};
}

// The numbers of a .npy file: a header of as many bytes as its bytes 8 and 9 tell follows ten others.
function numbers(bytes, Type) {
  return new Type(bytes.slice(10 + bytes[8] + 256 * bytes[9]).buffer);
}

// The array of pwlc emit --format npy as a line of Python for each segment.
function numpy(bytes) {
  const all = [...numbers(bytes, BigInt64Array)];
  const rows = all.map((_, i) => i % 4 ? "" : `    [${all.slice(i, i + 4).join(", ")}],\n`);
  return `import numpy as np\n\n# start, q_b, n_BX_total, and the constant of the line\n` +
         `table = np.array([\n${rows.join("")}], dtype=np.int64)\n`;
}

// The commands that follow the fit, and what the page gets of each; where one has nothing to give, why.
function steps(module, table) {
  const pwlc = argv => run(module, argv, {[FILE]: table}, tell);
  return [
    ["report", async () => (await pwlc(["report", FILE])).out],
    ["codes", async () => {
      const {files, err} = await pwlc(["sweep", FILE, "--codes", "codes.npy"]);
      return files["codes.npy"] ? {rows: numbers(files["codes.npy"], Float64Array)} : {why: err};
    }],
    ["cells", async () => {
      const {code, out, err} = await pwlc(["cost", FILE, "--estimate", "--target", TARGETS, "--rtl-style", "tree",
                                           "--stages", "4", "--format", "json"]);
      return code === 0 ? {rows: JSON.parse(out)} : {why: err};
    }],
    ["texts", () => Promise.all(TEXTS.map(async ({title, flags, ending, read = text}) => {
      const {files, err} = await pwlc(["emit", FILE, ...flags, "-o", "emitted"]);
      return {title, ending, text: files.emitted ? read(files.emitted) : err};
    }))],
  ];
}

async function fit(module, argv) {
  const {code, err, files} = await run(module, ["fit", ...argv, "-o", FILE], {}, tell);
  if (code !== 0)
    return postMessage({kind: "failed", code, content: err});
  const table = text(files[FILE]);
  postMessage({kind: "table", content: {table, notes: err}});
  for (const [kind, make] of steps(module, table))
    postMessage({kind, content: await make()});
}

// Error over bytes of the same with fewer and with more segments.
async function explore(module, argv) {
  const sizes = ["--segments", "4:64:x2", "--svg", "front.svg", "-o", "front.md"];
  const {err, files} = await run(module, ["explore", ...argv, ...sizes], {}, tell);
  postMessage({kind: "front", content: files["front.svg"] ? {svg: text(files["front.svg"])} : {why: err}});
}

onmessage = async ({data: {module, argv, sizes}}) => {
  try {
    if (sizes)
      await explore(module, argv);
    else if (argv)
      await fit(module, argv);
    else
      postMessage({kind: "described", content: await describe(module)});
  } catch (error) {
    postMessage({kind: "failed", code: 1, content: `pwlc ended: ${error.message ?? error}`});
  }
};
