// Vitest's `globalSetup`: makes the program that tests start, unless it is newer than the source.

import { isBuiltin } from "node:module";
import { build, type Plugin } from "vite";
import { buildOnce, ROOT } from "./build-once.ts";
import { PROGRAM_FOLDER } from "./program.ts";

/** All that the program starts by the name of a file beside its own. */
const ENTRIES = {
  main: "src/cli/main.ts",
  "carrier-main": "src/carrier/carrier-main.ts",
  "launch-helper": "src/git/launch-helper.ts",
  attend: "src/workspace/sandbox/container/attend.ts",
  exec: "src/workspace/sandbox/daytona/exec.ts",
  "crash-driver": "test/crash/driver.ts",
  "night-driver": "test/harness/night-driver.ts",
};

const MARK = "\0builtin:";

export { buildProgram as setup };

export async function buildProgram(): Promise<void> {
  await buildOnce({
    folder: PROGRAM_FOLDER,
    main: "main.js",
    sources: ["src", "test/crash", "test/harness"],
    build: bundle,
  });
}

async function bundle(folder: string): Promise<void> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    plugins: [BUILTINS],
    ssr: { noExternal: true, target: "node" },
    build: {
      ssr: true,
      outDir: folder,
      target: "node24",
      minify: false,
      rolldownOptions: {
        treeshake: { propertyReadSideEffects: false },
        input: ENTRIES,
        output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
      },
    },
  });
}

/**
 * Node's own modules by a call instead of an import: for an import Node makes every export of the module, and with them loads half of
 * itself. A start of the program costs a sixth less.
 */
const BUILTINS: Plugin = {
  name: "builtins-by-call",
  enforce: "pre",
  resolveId: (id) => (isBuiltin(id) ? { id: `${MARK}${id}`, moduleSideEffects: false } : null),
  load(id) {
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
