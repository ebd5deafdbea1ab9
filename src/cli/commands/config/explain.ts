// `config explain KEY`: the meaning of a setting, its value in force, and everything that can set it, in order of precedence.

import { join } from "node:path";
import { aboutSetting } from "../../../settings/about-settings.ts";
import { SETTINGS_FILE, userSettingsFile } from "../../../settings/site.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { paint, printJson } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { listAll, requireSetting, valueText } from "./list.ts";

const WIDTH = 400;

export async function configExplain(io: Io, name: string): Promise<number> {
  const { value, from } = requireSetting(await listAll(io), name);
  const { about, flag, variables = [], isUsers } = aboutSetting(name) ?? { about: "A limit of a flow." };
  const project = join(io.cwd, SETTINGS_FILE);
  const user = userSettingsFile(io.environment);
  if (io.json) {
    printJson(io, {
      name,
      value,
      from,
      about,
      flag: flag ?? null,
      variables,
      files: isUsers ? [user] : [project, user],
    });
    return EXIT.ok;
  }
  const set = variables.find((each) => (io.environment[each] ?? "") !== "");
  const ways = [
    ...(flag === undefined ? [] : [["flag", flag, from === "flag"] as const]),
    ...variables.map((each) => ["environment", each, from === "environment" && each === set] as const),
    ...(isUsers ? [] : [["project", project, from.includes("project")] as const]),
    ["user", user, from.includes("user")] as const,
    [
      from === "flow" ? "flow" : "default",
      from === "flow" ? "the flow's file" : "",
      from === "flow" || from === "default",
    ] as const,
  ];
  io.out(`${paint(io, "bold", name)} = ${oneLine(valueText(value), WIDTH)}   (${from})`);
  io.out(about);
  for (const [kind, where, counts] of ways)
    io.out(oneLine(`  ${counts ? "→" : " "} ${kind.padEnd(12)} ${where}`.trimEnd(), WIDTH));
  io.out(`passrail config set ${name} VALUE${isUsers ? " --user" : ""}   changes it`);
  return EXIT.ok;
}
