// A workbench whose agents are lines for the shell, and the custom flows that the tests of trust play.

import { execFileSync } from "node:child_process";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { customFlow } from "../../harness/custom-flow.ts";
import type { Workbench } from "../../harness/workbench.ts";

/** The ticket flow up to validate, for one stage: what comes after it is about landing. */
const ticket = customFlow("ticket", (file) => ({
  ...file,
  stages: file.stages.filter(({ id }) => ["plan", "implement", "validate"].includes(id)),
  enter: { "Needs Plan": "plan", "Needs Implement": "implement", "Needs Validate": "validate" },
}));

/** For agents of the shell: reads the prompt, as a program does, and finds in it where its verdict goes ($place) and its $nonce. */
export const READ_PROMPT = `prompt=$(cat)
place=\${prompt%%/verdict.json\\\`*}; place=/\${place##*\\\`/}/verdict.json
nonce=\${prompt#*/verdict.json\\\`}; nonce=\${nonce#*\\"nonce\\": \\"}; nonce=\${nonce%%\\"*}
`;

export type Hostile = {
  /** Stage -> what its agent does, as a line for the shell. */
  readonly lines: Readonly<Record<string, string>>;
  readonly id?: string;
  readonly workspace?: string;
  readonly config?: JsonObject;
  readonly status?: string;
  readonly wait?: boolean;
};

export function playLines(
  bench: Workbench,
  { lines, id = "AGI-7", workspace, config, status, wait }: Hostile,
): Promise<Run> {
  const runners = Object.fromEntries(Object.entries(lines).map(([stage, line]) => [stage, ["/bin/sh", "-c", line]]));
  const facts = {
    ticket: { repo: "org/app", status: status ?? "Needs Validate", id },
    config: { ...(workspace === undefined ? {} : { workspace }), ...config },
    runners,
  };
  return bench.run(ticket, {}, { subject: id, facts, wait: wait ?? true });
}

export async function outcomeOf(bench: Workbench, run: Run, stage: string): Promise<JsonObject> {
  const finished = (await bench.events(run.id)).findLast(
    (event) => event.type === "stage.finished" && event.stage === stage,
  );
  return (finished as unknown as { outcome?: JsonObject } | undefined)?.outcome ?? {};
}

export function gitIn(dir: string, ...args: string[]): string {
  const who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
  return execFileSync("git", ["-C", dir, ...who, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}
