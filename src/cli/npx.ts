// Commands that Passrail prints can be typed as they are. Under npx there is no `passrail` on the person's PATH, so `npx` is printed before it.

import { COMMAND_NAMES } from "./wiring.ts";

/** `passrail` before a command or a quoted task, where a command can begin; a sentence about passrail stays as it is. */
const COMMAND = new RegExp(`(^|[\\s\`(])passrail(?= (?:"|--help\\b|(?:${COMMAND_NAMES.join("|")})(?![\\w-])))`, "gu");

const CHECKOUT_START = "node src/cli/main.ts demo";

export function spokenUnderNpx(environment: Readonly<Record<string, string | undefined>>): (line: string) => string {
  if (!isNpx(environment)) return (line) => line;
  return (line) => line.replaceAll(COMMAND, (found, before: string) => `${before}npx ${found.slice(before.length)}`);
}

/** npm's variables name what `npx` or `npm exec` runs; a program that passrail starts, or that starts passrail, may have its own. */
function isNpx(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script = "" } = environment;
  // `npm start` in a checkout: `npx passrail` finds the program there.
  if (event === "start" && script === CHECKOUT_START) return true;
  return event === "npx" && /^['"]?passrail['"]?(?:\s|$)/u.test(script);
}
