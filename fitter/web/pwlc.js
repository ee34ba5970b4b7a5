// SPDX-License-Identifier: GPL-3.0-or-later
// pwlc's command line: each command has memory and files of its own, as a process has.
import create from "./pwlc-module.js";

// The files that a command finds are bytes or text by name; those that are there afterwards come as bytes.
// Returns {code, out, err, files}: the exit code and what was printed. tell({what, done, of}) is called as a command
// goes on, with what it is at (base/progress_page.c); of is 0 where nobody knows how much that is.
export async function run(module, argv, files = {}, tell = () => {}) {
  const out = [], err = [];
  const {FS, callMain} = await create({
    print: line => out.push(line + "\n"),
    printErr: line => {
      const progress = line.match(/^\r(\d+) (\d+) (.*)$/);
      progress ? tell({what: progress[3], done: +progress[1], of: +progress[2]}) : err.push(line);
    },
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then(done);
      return {};
    },
  });
  FS.mkdir("/work");
  FS.chdir("/work");
  for (const [name, content] of Object.entries(files))
    FS.writeFile(name, content);
  const code = callMain([...argv, "--color", "never"]);
  const left = FS.readdir(".").filter(name => FS.isFile(FS.stat(name).mode));
  return {code, out: out.join(""), err: err.join("\n"),
          files: Object.fromEntries(left.map(name => [name, FS.readFile(name)]))};
}
