// `flow new`: a flow of the project's own from a recipe. On a terminal it asks for what the command does not say.

import { listRecipes, newFlow } from "../../../app/set-up/new-flow.ts";
import { shippedDir } from "../../../settings/site.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { askLine, canAsk } from "../../terminal/ask-in-terminal.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";

export type NewFlowOptions = { readonly from?: string | undefined; readonly list: boolean };

export async function flowNew(io: Io, given: string | undefined, options: NewFlowOptions): Promise<number> {
  const recipes = listRecipes(shippedDir);
  if (options.list) {
    if (io.json) printJson(io, { recipes });
    else
      for (const { name, about } of recipes) io.out(io.quiet ? name : `${name.padEnd(22)} ${paint(io, "dim", about)}`);
    return EXIT.ok;
  }
  const recipe = options.from ?? (await askRecipe(io));
  const name = given ?? (await askName(io, recipe));
  const made = newFlow(shippedDir, io.cwd, name, recipe);
  if (!made.ok) throw problemError(made.error);
  const { flow, cases } = made.value;
  if (io.json) printJson(io, { name, recipe, flow, cases });
  else if (io.quiet) io.out(flow);
  else {
    io.out(`✔ ${flow} and its cases, ${cases}, are there, from the recipe ${recipe}.`);
    io.err("");
    io.err(paint(io, "dim", "Next:"));
    io.err(`  passrail flow check ${name}     after every edit`);
    io.err(`  passrail flow test ${name}      plays the cases`);
    io.err("  passrail trust            approves the new file for runs");
    io.err(`  passrail run ${name} "…"`);
  }
  return EXIT.ok;

  async function askRecipe(where: Io): Promise<string> {
    if (!canAsk(where))
      throw usageError(
        "recipe_missing",
        "Which recipe?",
        "passrail flow new NAME --from RECIPE; passrail flow new --list",
      );
    for (const [index, { name: known, about }] of recipes.entries())
      where.err(`${String(index + 1).padStart(2)}. ${known.padEnd(22)} ${paint(where, "dim", about)}`);
    const said = await askLine("Which one? Its number or name: ");
    const found = recipes[Number(said) - 1]?.name ?? said;
    if (found === "") throw new CliError("not_written", "Nothing was written.");
    return found;
  }
}

async function askName(io: Io, recipe: string): Promise<string> {
  if (!canAsk(io)) return recipe;
  const said = await askLine(`The flow's name [${recipe}]: `);
  return said === "" ? recipe : said;
}
