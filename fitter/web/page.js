// SPDX-License-Identifier: GPL-3.0-or-later
// The page: a form made of what pwlc says of its flags, the worker that fits, and what it sends back.
import {Chart} from "./chart.js";

const byId = id => document.getElementById(id);
const form = byId("form");

// The flags that stand first, by names of their own, and what they are at first; the others of `pwlc fit` follow below.
const MAIN = {"--expr": "or a formula of x", "--param": "Parameters, as alpha=0.5", "--in": "Input type",
              "--out": "Output type", "--segments": "Segments", "--max-err": "Largest error, LSB",
              "--form": "Form", "--rounding": "Rounding", "--method": "Method", "--for": "Hardware"};
const FIRST = {function: "sigmoid", in: "s8:2^-4", out: "s8:2^-8:-128", segments: "8"};
// What a page has not: files, several processes, compilers; and what row operators alone take.
const LEFT_OUT = ["-o", "--calibrate", "--calibrate-by", "--samples", "--weights", "--spec", "--resume", "--shard",
                  "--jobs", "--proof", "--reply", "--rows", "--gamma", "--beta", "--eps", "--in-b", "--fraction"];
const NO_TARGET = /^(cortex|rv32)/;

/* -- The form -- */

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};
const options = names => names.map(name => new Option(name, name));

function control(flag, argument) {
  const name = flag.slice(2);
  if (argument === null)
    return element("input", {type: "checkbox", name});
  if (!/^[\w-]+(\|[\w-]+)+$/.test(argument))
    return element("input", {name, placeholder: MAIN[flag] ? "" : argument, autocomplete: "off", spellcheck: false});
  const words = argument.split("|").filter(word => !NO_TARGET.test(word));
  return element("select", {name}, new Option("default", ""), ...options(words));
}

function field({name: flag, argument, help}) {
  const made = control(flag, argument);
  const words = element("small", {textContent: help.replace(", see below", ""), id: `help${flag}`});
  made.setAttribute("aria-describedby", words.id);
  const label = element("label", {}, made.type === "checkbox" ? made : MAIN[flag] ?? flag.slice(2));
  if (made.type === "checkbox")
    label.className = "check";
  label.append(made.type === "checkbox" ? flag.slice(2) : made, words);
  return label;
}

let functions = [], explored = []; // the flags of pwlc explore
let repeated = new Set(); // names of fields whose flags are

function describe(described) {
  ({functions, explore: explored} = described);
  form.elements.function.replaceChildren(...options(functions.map(({name}) => name)));
  const flags = described.fit.filter(({name}) => !LEFT_OUT.includes(name));
  repeated = new Set(flags.filter(({argument}) => argument?.endsWith("...")).map(({name}) => name.slice(2)));
  byId("fields").append(...Object.keys(MAIN).map(name => field(flags.find(flag => flag.name === name))));
  byId("more").append(...flags.filter(({name}) => !MAIN[name]).map(field));
}

// What the form asks for, without what is empty: the content of the link.
function asked() {
  return new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== ""));
}

function ask(link) {
  const given = new URLSearchParams(link), values = [...given].length ? given : new URLSearchParams(FIRST);
  for (const made of form.querySelectorAll("[name]")) {
    const value = values.get(made.name) ?? "";
    made.type === "checkbox" ? made.checked = value !== "" : made.value = value;
  }
  if (!form.elements.function.value)
    form.elements.function.value = FIRST.function;
  byId("more").parentElement.open ||= [...byId("more").querySelectorAll("[name]")].some(({name}) => values.has(name));
}

// The arguments of a command that takes the flags for which `takes` holds. What a field has is one value; where its
// flag may be repeated, each word is one.
function words(values, takes = () => true) {
  const argv = values.has("expr") ? [] : [values.get("function")];
  for (const made of form.querySelectorAll("[name]:not(#function)"))
    if (takes(`--${made.name}`) && (made.type === "checkbox" ? made.checked : made.value.trim()))
      for (const value of repeated.has(made.name) ? made.value.trim().split(/\s+/) : [made.value.trim()])
        argv.push(`--${made.name}`, ...(made.type === "checkbox" ? [] : [value]));
  return argv;
}

function tellFunction() {
  const {formula = "", parameters = []} = functions.find(({name}) => name === form.elements.function.value) ?? {};
  byId("formula").textContent = [formula, ...parameters.map(({name, initial}) => `${name}=${initial}`)].join("; ");
}

/* -- The worker -- */

let module, worker = null, began = 0, clock;
let step = null; // what the worker is at, {what, done, of}; null until it says so
const SAID_EVERY = 10; // seconds between what a screen reader gets of it

function start() {
  worker = new Worker("worker.js", {type: "module"});
  worker.onmessage = ({data}) => take[data.kind](data);
  worker.onerror = event => take.failed({code: 1, content: event.message});
}

// The line beside the buttons, and what it says while the worker goes on is told by tell().
function status(words) {
  byId("status").textContent = words;
  step = null;
  tell();
}

// The bar is that of the step alone which the words name.
function tell() {
  const seconds = began ? Math.floor((performance.now() - began) / 1000) : 0, bar = byId("progress");
  const share = step?.of ? step.done / step.of : null;
  const words = [step?.what, share === null ? "" : `${Math.floor(100 * share)} %`, `${seconds} s`];
  const shown = seconds ? words.filter(word => word).join(", ") : "";
  bar.hidden = !began;
  share === null ? bar.removeAttribute("value") : bar.value = share;
  byId("step").textContent = shown;
  return shown;
}

function busy(is) {
  byId("cancel").disabled = !is;
  byId("explore").disabled = is;
  byId("result").setAttribute("aria-busy", is);
  clearInterval(clock);
  byId("said").textContent = "";
  began = is ? performance.now() : 0;
  let seconds = 0;
  if (is)
    clock = setInterval(() => {
      const shown = tell();
      if (++seconds % SAID_EVERY === 0)
        byId("said").textContent = shown;
    }, 1000);
}

function cancel(words) {
  worker.terminate();
  start();
  busy(false);
  status(words);
}

function fit() {
  const values = asked(), argv = words(values), link = `#${values}`;
  if (began && link === location.hash)
    return;
  if (began)
    cancel("");
  if (link !== location.hash)
    history[location.hash ? "pushState" : "replaceState"](null, "", link);
  tellFunction();
  report("");
  byId("front").replaceChildren();
  busy(true);
  status("Fitting");
  worker.postMessage({module, argv});
}

function explore() {
  busy(true);
  status("Comparing sizes");
  const argv = words(asked(), flag => flag !== "--segments" && explored.includes(flag));
  worker.postMessage({module, argv, sizes: true});
}

// A message of pwlc, and the field whose flag it begins with.
function report(message) {
  byId("failure").textContent = message.replace(/^pwlc fit: /, "");
  for (const made of form.querySelectorAll("[name]"))
    made.setAttribute("aria-invalid", message.match(/^pwlc fit: --([\w-]+)/)?.[1] === made.name);
}

/* -- What comes back -- */

const chart = new Chart(byId("chart"), (code, words) => {
  byId("code").value = code;
  byId("read").textContent = words;
});
let table = null;

const take = {
  described({content}) {
    describe(content);
    ask(location.hash.slice(1));
    fit();
  },
  failed({content}) {
    busy(false);
    status("No table");
    byId("result").hidden = true;
    report(content);
  },
  progress({content}) {
    step = content;
    tell();
  },
  table({content}) {
    table = JSON.parse(content.table);
    byId("notes").textContent = content.notes;
    byId("notes").hidden = !content.notes;
    status("Drawing");
  },
  report({content}) {
    const page = new DOMParser().parseFromString(content, "text/html"), section = page.querySelector("section");
    const heading = element("h2", {textContent: table.function});
    section.querySelector("h2").remove();
    byId("tiles").replaceChildren(heading, document.adoptNode(section.querySelector(".tiles")));
    byId("report").replaceChildren(document.adoptNode(section));
    for (const scrolled of byId("report").querySelectorAll(".wide, .plot"))
      Object.assign(scrolled, {tabIndex: 0});
    byId("result").hidden = false;
    status("Measuring every code");
  },
  codes({content}) {
    byId("chart").parentElement.classList.toggle("none", !content.rows);
    byId("read").textContent = content.why ?? "";
    if (content.rows)
      chart.show(content.rows, table.reduction ? [] : table.segments.map(({start}) => start));
    status("Estimating hardware");
  },
  cells({content}) {
    byId("cells").replaceChildren(content.why ?? cells(content.rows));
    status("Writing");
  },
  front({content: {svg, why}}) {
    const plot = svg && new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    byId("front").replaceChildren(why ?? document.adoptNode(plot));
    busy(false);
    status("Sizes are compared");
  },
  texts({content}) {
    const opened = new Set([...document.querySelectorAll("#outputs details[open]")].map(({dataset}) => dataset.title));
    byId("outputs").replaceChildren(...content.map(made => output(made, opened)));
    busy(false);
    status(`Done: ${table.segments.length} segments, largest error ${table.certificate.max_err_lsb} LSB`);
  },
};

function cells(rows) {
  const columns = {target: "target", style: "style", lut: "LUT", dsp: "DSP", ram: "RAM", cells: "cells",
                   fmax_mhz: "MHz"};
  const row = (name, values) => element("tr", {}, ...values.map((value, i) =>
    element(name, {textContent: value ?? "-", className: i < 2 ? "text" : ""})));
  return element("table", {}, element("thead", {}, row("th", Object.values(columns))),
                 element("tbody", {}, ...rows.map(cost => row("td", Object.keys(columns).map(key => cost[key])))));
}

function output({title, ending, text}, opened) {
  const copy = element("button", {type: "button", textContent: "Copy"});
  copy.setAttribute("aria-label", `Copy ${title}`);
  copy.onclick = async () => {
    await navigator.clipboard.writeText(text);
    status(`${title} is copied`);
  };
  const save = element("a", {textContent: "Save", download: `pwl_${table.function.replace(/\W+/g, "_")}.${ending}`,
                             href: URL.createObjectURL(new Blob([text]))});
  save.setAttribute("aria-label", `Save ${title}`);
  const shown = element("details", {open: opened.has(title)}, element("summary", {textContent: title}),
                        element("pre", {tabIndex: 0, textContent: text}));
  const made = element("div", {className: "output"}, shown, element("p", {className: "run"}, copy, save));
  shown.dataset.title = made.dataset.title = title;
  return made;
}

/* -- Begin -- */

form.onsubmit = event => {
  event.preventDefault();
  fit();
};
form.onchange = event => {
  if (event.target.id === "function" && form.elements.expr)
    form.elements.expr.value = form.elements.param.value = "";
  fit();
};
byId("explore").onclick = explore;
byId("cancel").onclick = () => cancel("Cancelled");
byId("code").onchange = () => chart.chooseCode(+byId("code").value);
for (const button of document.querySelectorAll("[data-view]"))
  button.onclick = () => chart.act(button.dataset.view);
onpopstate = () => {
  ask(location.hash.slice(1));
  fit();
};

start();
try {
  const load = () => fetch("pwlc.wasm");
  // Some servers do not know what a .wasm is.
  module = await WebAssembly.compileStreaming(load())
    .catch(async () => WebAssembly.compile(await (await load()).arrayBuffer()));
  worker.postMessage({module});
} catch (error) {
  status("No table");
  report(`pwlc could not be loaded: ${error.message}`);
}
