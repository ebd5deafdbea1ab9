import { Command } from "commander";
import { describe, expect, test } from "vitest";
import { addOptions, choice, choiceOr, flag, list, requiredText, text, textOr, type TypedFlags } from "./options.ts";

describe("typed options", () => {
  const parse = (args: readonly string[]) => {
    const command = new Command("try").exitOverride().configureOutput({ writeErr: () => undefined });
    const read = addOptions(command, {
      dryRun: flag("--dry-run", "a flag"),
      dashboard: flag("--no-dashboard", "a flag that is on by default"),
      note: text("--note <text>", "a text"),
      limit: textOr("--limit <n>", "a text with a default", "50"),
      from: requiredText("--from <stage>", "a text that must be given"),
      runners: list("--agent <command>", "under another name"),
      kind: choice("--kind <kind>", "one of two", ["systemd", "launchd"]),
      scope: choiceOr("--scope <scope>", "one of two, with a default", ["viewer", "operator"]),
    });
    const values: ReturnType<typeof read>[] = [];
    command.action((typed: TypedFlags) => void values.push(read(typed)));
    command.parse([...args], { from: "user" });
    return { values: values[0], help: command.helpInformation() };
  };

  test("an option that was not typed is absent or has its default", () => {
    expect(parse(["--from", "build"]).values).toStrictEqual({
      dryRun: false,
      dashboard: true,
      limit: "50",
      from: "build",
      runners: [],
      scope: "viewer",
    });
  });

  test("every option is read under the name that the command gave it", () => {
    const args =
      "--dry-run --no-dashboard --note n --limit 3 --from f --agent a --agent b --kind launchd --scope operator";
    expect(parse(args.split(" ")).values).toStrictEqual({
      dryRun: true,
      dashboard: false,
      note: "n",
      limit: "3",
      from: "f",
      runners: ["a", "b"],
      kind: "launchd",
      scope: "operator",
    });
  });

  test("a required option that is missing and a word that is not offered are refused", () => {
    expect(() => parse([])).toThrow("--from <stage>");
    expect(() => parse(["--from", "f", "--kind", "moon"])).toThrow("systemd, launchd");
  });

  test("the help shows the default of a text, and none for a list", () => {
    const { help } = parse(["--from", "f"]);
    expect(help).toContain('a text with a default (default: "50")');
    expect(help).not.toContain("default: []");
  });
});
