// The files that a command line starts, as far as they can be told: for a key that another version of a program must change. A launcher leads to
// them by a link, by its package, or by what it says.

import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";

/** `[path, real path, size, time]` of each file, in the order in which they are found; words that are no files stay as they are. */
export function programFiles(argv: readonly string[], path: string): readonly (readonly (string | number)[])[] {
  const seen = new Set<string>();
  const words = argv.map((word) => factsOf(word) ?? [word]);
  const found: (readonly (string | number)[])[] = [...words];
  const queue = words.flatMap(([, real]) => (typeof real === "string" ? [real] : []));
  for (const real of queue) {
    if (seen.has(real) || seen.size >= FILES_AT_MOST) continue;
    seen.add(real);
    for (const next of [...packageOf(real), ...namedIn(real, path)]) {
      const facts = factsOf(next);
      if (facts === undefined || seen.has(String(facts[1]))) continue;
      found.push(facts);
      queue.push(String(facts[1]));
    }
  }
  return found;
}

const FILES_AT_MOST = 40;
const SCRIPT_BYTES = 32 * 1024;

function factsOf(path: string): readonly (string | number)[] | undefined {
  if (!isAbsolute(path)) return undefined;
  try {
    const real = realpathSync(path);
    const found = statSync(real);
    return found.isFile() ? [path, real, found.size, found.mtimeMs] : undefined;
  } catch {
    return undefined;
  }
}

/** A package is installed as a whole, and its description is new with each version, also where only its other files are. */
function packageOf(real: string): readonly string[] {
  const modules = real.lastIndexOf("/node_modules/");
  if (modules === -1) return [];
  const [scope = "", name = ""] = real.slice(modules + "/node_modules/".length).split("/");
  const folder = join(real.slice(0, modules), "node_modules", scope, ...(scope.startsWith("@") ? [name] : []));
  return [join(folder, "package.json")];
}

/** What a short script says that looks like a file, from the root or from its own folder, and what it executes by name. */
function namedIn(real: string, path: string): readonly string[] {
  const text = scriptText(real);
  if (text === undefined) return [];
  const paths = (text.replaceAll(/\$\{?\w+\}?/gu, "").match(/[\w@.+-]*(?:\/[\w@.+-]+)+/gu) ?? []).slice(
    0,
    FILES_AT_MOST,
  );
  const names = Array.from(text.matchAll(/\b(?:exec|env)\s+"?([\w.+-]+)/gu), ([, name = ""]) => name).slice(
    0,
    FILES_AT_MOST,
  );
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return [
    // `$basedir/lib/cli.js` looks like `/lib/cli.js`.
    ...paths.flatMap((each) => [...(isAbsolute(each) ? [each] : []), join(dirname(real), each)]),
    ...names.flatMap((name) =>
      folders
        .map((folder) => join(folder, name))
        .filter(isFile)
        .slice(0, 1),
    ),
  ];
}

function scriptText(real: string): string | undefined {
  let handle: number | undefined;
  try {
    handle = openSync(real, "r");
    const bytes = Buffer.alloc(SCRIPT_BYTES + 1);
    const length = readSync(handle, bytes, 0, bytes.length, 0);
    const text = bytes.subarray(0, length).toString("latin1");
    return length <= SCRIPT_BYTES && text.startsWith("#!") ? text : undefined;
  } catch {
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
