// The files of deploy/ name commands and flags that the program has, and hold together. test/scenarios/daemon/exposure.test.ts runs their
// entry commands.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deployFile, readCompose, readWorkloads } from "../harness/deploy-files.ts";
import { callsIn, problemsOf } from "./usage.ts";

test("every command of the files of deploy is one of the program, with its flags", async () => {
  const { services } = readCompose();
  const unit = /^ExecStart=\/usr\/bin\/env (.*)$/m.exec(deployFile("passrail-worker.service"))?.[1] ?? "";
  const containers = readWorkloads().flatMap(({ spec }) => spec.template.spec.containers);
  const commands = [
    unit,
    ...Object.values(services).flatMap(({ command = [] }) => command),
    ...containers.map(({ command, args }) => (command[0] === "sh" ? args : [...command, ...args]).join(" ")),
    ...["compose.yaml", "Containerfile"].flatMap((name) =>
      deployFile(name)
        .split("\n")
        .flatMap((line) => /^#.*\b(passrail (?:key|up|worker|down)\b.*)$/.exec(line)?.[1] ?? []),
    ),
  ].map((text) => text.replaceAll("exec passrail", "passrail").replaceAll("`", ""));
  const calls = commands.map((text) => callsIn(text));
  expect(calls.filter((found) => found.length > 0).length).toBeGreaterThanOrEqual(6);
  const problems = await Promise.all(calls.flat().map((call) => problemsOf([call])));
  expect(problems.flat()).toEqual([]);
});

test("what the files mount and share is declared", () => {
  const { services, secrets, volumes } = readCompose();
  const named = Object.values(services).flatMap(({ volumes: mounts = [] }) => mounts.map((each) => each.split(":")[0]));
  for (const name of named.filter((each) => each?.startsWith(".") === false))
    expect(volumes).toHaveProperty(name ?? "");
  for (const each of Object.values(services))
    for (const name of each.secrets ?? []) expect(secrets).toHaveProperty(name);
  for (const { spec } of readWorkloads()) {
    const declared = [
      ...spec.template.spec.volumes.map(({ name }) => name),
      ...(spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
    ];
    for (const { volumeMounts } of spec.template.spec.containers)
      for (const { name } of volumeMounts) expect(declared).toContain(name);
  }
});

test.each([
  ["Containerfile", 2, "USER 10001"],
  ["agents.Containerfile", 1, "USER 1000"],
])(
  "%s has the versions of the agents' programs that the contract tests drive, and ends as a user without rights",
  (name, count, user) => {
    const text = deployFile(name);
    const file = join(import.meta.dirname, "..", "contract", "package.json");
    const { dependencies } = JSON.parse(readFileSync(file, "utf8")) as { dependencies: Record<string, string> };
    for (const [agent, version] of Object.entries(dependencies)) expect(text).toContain(`${agent}@${version}`);
    const stages = text.split(/^FROM /m).slice(1);
    expect(stages).toHaveLength(count);
    for (const stage of stages) expect(stage.match(/^USER .*$/gm)?.at(-1)).toBe(user);
  },
);
