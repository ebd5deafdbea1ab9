// A flow of the project's own, begun from a recipe of the cookbook: the flow's file and the cases that test it. It never replaces a file.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { didYouMean } from "../../core/check/suggest.ts";
import { isName } from "../../core/flow/name.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { listFiles, readText } from "../../file/read-text.ts";
import { EDITOR_LINES, writeEditorSchemas } from "./editor-schemas.ts";

export type Recipe = {
  readonly name: string;
  readonly title: string;
  /** The first line of its file: what it is for. */
  readonly about: string;
};

const CASES = ".cases.yaml";

/** `folder`: the shipped data, which holds the cookbook. */
export function listRecipes(folder: string): readonly Recipe[] {
  const cookbook = join(folder, "cookbook");
  return listFiles(cookbook, [".yaml"])
    .filter((file) => !file.endsWith(CASES))
    .map((file) => {
      const text = textOf(cookbook, basename(file));
      return {
        name: basename(file, ".yaml"),
        title: /^title: (.+)$/mu.exec(text)?.[1] ?? "",
        about: /^# (.+)$/mu.exec(text)?.[1] ?? "",
      };
    });
}

export type NewFlow = { readonly flow: string; readonly cases: string };

export function newFlow(shipped: string, project: string, name: string, recipe: string): Result<NewFlow> {
  if (!isName(name))
    return err({
      code: "invalid_name",
      message: `${JSON.stringify(name)} is no name for a flow.`,
      hint: "A name begins with a letter and has letters, digits and dashes, up to 48.",
    });
  const recipes = listRecipes(shipped).map((each) => each.name);
  if (!recipes.includes(recipe))
    return err({
      code: "unknown_recipe",
      message: `There is no recipe ${JSON.stringify(recipe)}.`,
      hint: `${didYouMean(recipe, recipes, "recipes")}\npassrail flow new --list   shows all of them`,
    });
  const cookbook = join(shipped, "cookbook");
  const flow = join(".passrail", "flows", `${name}.yaml`);
  const cases = join(".passrail", "flow-tests", `${name}.yaml`);
  const text = textOf(cookbook, `${recipe}.yaml`).replace(/^flow: .+$/mu, `flow: ${name}`);
  const written = writeNew(join(project, flow), `${EDITOR_LINES.flow}\n${text}`);
  if (!written.ok) return written;
  writeEditorSchemas(project);
  const tested = writeNew(join(project, cases), textOf(cookbook, `${recipe}${CASES}`));
  if (tested.ok) return ok({ flow, cases });
  // Half of it would be in the way of the next try.
  rmSync(join(project, flow), { force: true });
  return tested;
}

function writeNew(path: string, text: string): Result<null> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: "wx", mode: 0o644 });
    return ok(null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      return err({
        code: "file_exists",
        message: `${path} exists already, and nothing is replaced.`,
        hint: "Choose another name.",
      });
    return err({ code: "file_not_written", message: `${path} cannot be written (${code ?? "unknown"}).` });
  }
}

/** A file of the package; without it the installation is broken. */
function textOf(cookbook: string, file: string): string {
  const text = readText(join(cookbook, file), cookbook, "recipe");
  if (!text.ok) throw new Error(text.error.message);
  return text.value;
}
