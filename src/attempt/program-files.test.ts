import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { programFiles } from "./program-files.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-program-")));
});
afterEach(() => rmSync(dir, { recursive: true }));

function put(path: string, text: string): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, 0o755);
  return file;
}

/** Each changes the file that the program ends in, and nothing that the command line names. */
test.each<[string, () => { readonly command: string; readonly target: string }]>([
  [
    "a script that names the file",
    () => {
      const target = put("opt/agent.bin", "one");
      return { command: put("bin/agent", `#!/bin/sh\nexec ${target} "$@"\n`), target };
    },
  ],
  [
    "a script that finds it beside itself",
    () => {
      const target = put("bin/lib/cli.js", "one");
      return { command: put("bin/agent", '#!/bin/sh\nexec node "$basedir/lib/cli.js" "$@"\n'), target };
    },
  ],
  [
    "a script of scripts, the last of them by its name",
    () => {
      const target = put("path/agent-real", "one");
      const second = put("opt/second", '#!/bin/sh\nexec agent-real "$@"\n');
      return { command: put("bin/agent", `#!/bin/sh\n${second} "$@"\n`), target };
    },
  ],
  [
    "a link into a package, of which another file starts the rest",
    () => {
      const target = put("lib/node_modules/@vendor/agent/package.json", '{"version":"1.0.0"}');
      put("lib/node_modules/@vendor/agent/bin/launch.js", "#!/usr/bin/env node\n");
      mkdirSync(join(dir, "bin"));
      symlinkSync("../lib/node_modules/@vendor/agent/bin/launch.js", join(dir, "bin/agent"));
      return { command: join(dir, "bin/agent"), target };
    },
  ],
])("%s: another version of the program has other files", (_name, make) => {
  const { command, target } = make();
  const files = () => JSON.stringify(programFiles([command, "--model", "x"], join(dir, "path")));
  const before = files();
  expect(files()).toBe(before);
  writeFileSync(target, "two");
  utimesSync(target, 1_800_000_000, 1_800_000_000);
  expect(files()).not.toBe(before);
});
