// The program as it is published and as tests start it: the source and its packages in a few files. From the source each start would read
// and link four hundred files.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { build, type Plugin, type Rolldown } from "vite";
import { HELP_FILE } from "../src/cli/help-page.ts";
import { ROOT } from "./report.ts";

/** What is started, or imported, by the name of its file. */
const ENTRIES: Readonly<Record<string, string>> = { main: "src/cli/main.ts", index: "src/index.ts" };

/** Processes that the program starts; it looks for each beside its own files. Each is one file, for the fastest start. */
const PROCESSES: Readonly<Record<string, string>> = {
  "carrier-main": "src/carrier/carrier-main.ts",
  "launch-helper": "src/git/launch-helper.ts",
  "listen-inside": "src/workspace/sandbox/bridge/listen-inside.ts",
  "attend-apart": "src/workspace/sandbox/bubblewrap/attend-apart.ts",
  attend: "src/workspace/sandbox/container/attend.ts",
  exec: "src/workspace/sandbox/daytona/exec.ts",
  "relay-inside": "src/workspace/sandbox/daytona/relay-inside.ts",
};

/** What the commands load that people type most, in one file each, with all that they import: to find and link a file takes a millisecond. */
const TOGETHER: readonly { readonly name: string; readonly roots: RegExp }[] = [
  { name: "start", roots: /^cli\/main\.ts$/u },
  { name: "words", roots: /^(cli\/(program|commands\/[^/]+\/add-[^/]+)|settings\/(site|real-folder))\.ts$/u },
  { name: "list", roots: /^cli\/commands\/runs\/list\.ts$/u },
  { name: "show", roots: /^cli\/commands\/runs\/show\.ts$/u },
  { name: "inbox", roots: /^cli\/commands\/answer\/inbox\.ts$/u },
  // Whatever performs: `run`, `work`, `up` and every test of a killed program.
  { name: "compose", roots: /^compose\.ts$/u },
];

const MARK = "\0builtin:";
/** Commander loads `node:child_process` for commands that are programs of their own, which Passrail has none of: 6 ms of each start. */
const LATE = "\0late-builtin:";

type Splitting = Pick<Rolldown.OutputOptions, "codeSplitting" | "strictExecutionOrder">;

/**
 * Writes the program into `folder`, which is as deep below the root as the source, so that the program finds the shipped flows, agents and
 * prompts. `more` are further entries.
 */
export async function bundle(folder: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const packages = await bundleEntries(folder, { ...ENTRIES, ...more });
  for (const [name, file] of Object.entries(PROCESSES))
    await write(folder, { [name]: file }, packages, { codeSplitting: false });
  chmodSync(join(folder, "main.js"), 0o755);
  writeFileSync(join(folder, HELP_FILE), wideHelp(join(folder, "main.js")));
  writeFileSync(join(folder, "LICENSES.md"), licences([...packages].toSorted()));
}

/** Writes only these entries and what they import, without the processes that they start; returns the folders of the packages in them. */
export async function bundleEntries(folder: string, entries: Readonly<Record<string, string>>): Promise<Set<string>> {
  const packages = new Set<string>();
  const groups = TOGETHER.map(({ name, roots }, index) => ({
    name,
    priority: TOGETHER.length - index,
    test: (id: string) => roots.test(relative(join(ROOT, "src"), id)),
  }));
  // A file may hold more than a command needs; what it does not need is not executed.
  await write(folder, entries, packages, { strictExecutionOrder: true, codeSplitting: { groups } });
  return packages;
}

/** What `passrail --help` prints on a terminal on which every description fits into its line; the program wraps it. */
function wideHelp(main: string): string {
  const wide = `data:text/javascript,${encodeURIComponent("Object.assign(process.stdout, { isTTY: true, columns: 100_000 })")}`;
  // Two flags: the program answers `--help` alone from the file.
  return execFileSync(process.execPath, ["--import", wide, main, "--no-color", "--help"], { encoding: "utf8" });
}

async function write(
  folder: string,
  input: Readonly<Record<string, string>>,
  packages: Set<string>,
  splitting: Splitting,
): Promise<void> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    plugins: [BUILTINS, ONE_LANGUAGE, collectPackages(packages)],
    ssr: { noExternal: true, target: "node" },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      target: "node22",
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        treeshake: { propertyReadSideEffects: false },
        input,
        output: {
          entryFileNames: "[name].js",
          chunkFileNames: "[name]-[hash].js",
          sourcemapExcludeSources: true,
          // Every start reads them; the source map leads to the source.
          comments: { legal: true, annotation: true, jsdoc: false },
          ...splitting,
          plugins: [COMPILED_AT_ONCE],
        },
      },
    },
  });
}

/**
 * The bundler puts the code of each module into a function, and where a program has several files, that function into another. Node's cache
 * keeps the compiled code of the inner function only where it stands by itself; else every start compiles it again, which is a tenth of
 * what the start of an engine needs.
 */
const COMPILED_AT_ONCE: Plugin = {
  name: "compiled-at-once",
  renderChunk(code) {
    const changed = code.replaceAll(
      /^function (init_[\w$]+)\(\) \{\n\treturn \(\1 = __esmMin\(\((async )?\(\) => \{(.*?)\}\)\)\)\(\);\n\}$/gmsu,
      // As many lines as before, and the body where it was: the source map stays true.
      (_all, name: string, kind = "", body: string) => `\nvar ${name} = __esmMin((${kind}() => {${body}}));\n`,
    );
    // Another version of the bundler may write it in another way.
    const left = /^function (init_[\w$]+)\(\) \{\n\treturn \(\1 = /mu.exec(changed);
    if (left !== null) throw new Error(`each start would compile the code of a module again: ${left[1]}`);
    return { code: changed, map: null };
  },
};

/**
 * Node's own modules by a call instead of an import: for an import Node makes every export of the module, and with them loads half of
 * itself. A start of the program costs a sixth less.
 */
const BUILTINS: Plugin = {
  name: "builtins-by-call",
  enforce: "pre",
  resolveId(id, importer) {
    if (!isBuiltin(id)) return null;
    const mark = id === "node:child_process" && importer?.includes("/node_modules/commander/") ? LATE : MARK;
    return { id: `${mark}${id}`, moduleSideEffects: false };
  },
  load(id) {
    if (id.startsWith(LATE)) {
      const name = JSON.stringify(id.slice(LATE.length));
      return `export default { get spawn() { return process.getBuiltinModule(${name}).spawn; } };`;
    }
    if (!id.startsWith(MARK)) return null;
    const name = id.slice(MARK.length);
    const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
      (key) => /^[a-z_$][\w$]*$/iu.test(key) && key !== "default",
    );
    return [
      `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`,
      "export default builtin;",
      ...names.map((key) => `export const ${key} = builtin.${key};`),
    ].join("\n");
  },
};

/** Zod says what is wrong in sixty languages, of which Passrail speaks one: a quarter of a file that most commands load. */
const ONE_LANGUAGE: Plugin = {
  name: "one-language",
  load: (id) =>
    id.endsWith("/node_modules/zod/v4/locales/index.js") ? 'export { default as en } from "./en.js";' : null,
};

/** The folders of the packages whose code is in the files. */
function collectPackages(found: Set<string>): Plugin {
  return {
    name: "collect-packages",
    generateBundle(_options, files) {
      for (const file of Object.values(files)) {
        if (file.type !== "chunk") continue;
        for (const id of file.moduleIds) if (id.includes("/node_modules/")) found.add(packageOf(id));
      }
    },
  };
}

function packageOf(id: string): string {
  let folder = dirname(id);
  while (!existsSync(join(folder, "package.json")) || !("name" in described(folder))) folder = dirname(folder);
  return folder;
}

function described(folder: string): { readonly name?: string; readonly version?: string; readonly license?: string } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as ReturnType<typeof described>;
}

function licences(folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const { name = "", version = "", license = "" } = described(folder);
    const file = readdirSync(folder).find((each) => /^licen[cs]e/iu.test(each));
    if (file === undefined && license === "")
      throw new Error(`${name} has no licence; it cannot be published inside this program`);
    const text = file === undefined ? "" : `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    return `## ${name} ${version} (${license})\n${text}`;
  });
  return `# Packages whose code is in these files\n\n${parts.join("\n")}`;
}
