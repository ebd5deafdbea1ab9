// `npm run build`: the program -> dist/cli, its types -> dist, web -> dist/web, docs -> dist/guide, then checks that the result starts.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { bundle } from "./bundle.ts";
import { writeGuide } from "./guide.ts";
import { ROOT } from "./report.ts";

// `npm ci` builds by itself. Whoever runs the check right afterwards need not build twice.
if (process.env["npm_lifecycle_event"] === "prepare" && process.env["PASSRAIL_PREPARE"] === "later") process.exit(0);

const dist = join(ROOT, "dist");
const cli = join(dist, "cli/main.js");

rmSync(dist, { recursive: true, force: true });
const compiled = attempt(process.execPath, [
  join(ROOT, "node_modules/typescript/bin/tsc"),
  "-p",
  "tsconfig.build.json",
  // It only writes the types down; `npm run types` checks them.
  "--noCheck",
]);
if (!compiled.ok) fail(`tsc failed\n${compiled.output}`);
const drawn = attempt(process.execPath, [
  join(ROOT, "node_modules/vite/bin/vite.js"),
  "build",
  "web",
  "--logLevel=warn",
]);
if (!drawn.ok) fail(`vite failed\n${drawn.output}`);
writeGuide(join(dist, "guide"));
await bundle(dirname(cli));
checkCli();

/** Runs the file itself, not `node file`: that proves the mode bit and the shebang, as npm's link to it needs them. */
function checkCli(): void {
  if (!readFileSync(cli, "utf8").startsWith("#!/usr/bin/env node\n")) {
    fail("dist/cli/main.js has no shebang; put `#!/usr/bin/env node` on the first line of src/cli/main.ts");
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const started = attempt(cli, ["--version"]);
  if (!started.ok) fail(`dist/cli/main.js --version failed\n${started.output}`);
  if (!started.output.includes(version)) {
    fail(`dist/cli/main.js --version says ${JSON.stringify(started.output.trim())}, package.json says ${version}`);
  }
  const home = mkdtempSync(join(tmpdir(), "passrail-build-"));
  const listed = attempt(cli, ["--home", home, "--cwd", home, "--quiet", "flow", "list"]);
  rmSync(home, { recursive: true, force: true });
  if (!listed.output.split("\n").includes("quick")) fail(`dist/cli/main.js finds no shipped flows\n${listed.output}`);
  const imported = attempt(process.execPath, [
    "-e",
    "import('passrail').then((all) => console.log(typeof all.openPassrail))",
  ]);
  if (imported.output.trim() !== "function") fail(`the package cannot be imported\n${imported.output}`);
  console.log(`dist/cli/main.js starts and says ${version}`);
}

function attempt(program: string, args: readonly string[]): { readonly ok: boolean; readonly output: string } {
  try {
    const output = execFileSync(program, args, {
      cwd: ROOT,
      encoding: "utf8",
      timeout: 120_000,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` },
    });
    return { ok: true, output };
  } catch (error) {
    const { message, stdout = "", stderr = "" } = error as Error & { stdout?: string; stderr?: string };
    return { ok: false, output: `${stdout}${stderr}` || message };
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
