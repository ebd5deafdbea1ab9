// One sentence for people about how an attempt's process ended; empty when it simply exited with 0.

import { formatDuration } from "../../core/flow/duration.ts";
import type { AttemptEnd, AttemptSpec } from "../runner.ts";

export type EndFacts = {
  readonly reason: AttemptEnd["reason"];
  readonly exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  readonly spec: Pick<AttemptSpec, "argv" | "limits">;
  readonly survivors: readonly number[];
  readonly fileProblem: string | undefined;
  readonly stderr: string;
};

export const describeEnd = (facts: EndFacts): string =>
  [ending(facts), ...remarks(facts)].filter((sentence) => sentence !== "").join(" ");

const ending = ({ reason, exit, spec, stderr }: EndFacts): string => {
  const [command] = spec.argv;
  const { startupMs, idleMs, totalMs, outputBytes, resources } = spec.limits;
  switch (reason) {
    case "finished":
      return "";
    case "exited":
      return exit?.code === 0 ? "" : `${command} exited with code ${exit?.code ?? "unknown"}.`;
    case "signaled":
      return `${command} was ended by ${exit?.signal ?? "a signal"}.`;
    case "startup_timeout":
      return `${command} printed nothing within ${formatDuration(startupMs ?? 0)} of its start and was ended.`;
    case "idle_timeout":
      return `${command} printed nothing for ${formatDuration(idleMs ?? 0)} and was ended.`;
    case "timeout":
      return `${command} took longer than ${formatDuration(totalMs)} and was ended.`;
    case "output_limit":
      return `${command} printed far more than the ${outputBytes} bytes that are kept and was ended.`;
    case "memory_limit":
      return `${command} was killed in a container with ${megabytes(resources?.memoryBytes)} of memory (limits.memory): it used all of it, or somebody killed it.`;
    case "disk_limit":
      return `${command} filled more than ${megabytes(resources?.diskBytes)} of the disk (limits.disk) and was ended.`;
    case "sandbox_failed":
      return `Its sandbox failed: ${stderr.trimEnd().split("\n").at(-1) ?? ""}`;
    case "canceled":
      return `${command} was ended because the attempt was canceled.`;
    case "agent_not_found":
    case "spawn_failed":
      return `${command} could not be started.`;
  }
};

const megabytes = (bytes = 0): string => `${Math.round(bytes / 1024 ** 2)} MB`;

const remarks = ({ survivors, fileProblem }: EndFacts): string[] => [
  ...(survivors.length > 0 ? [`Still running after KILL: process ${survivors.join(", ")}.`] : []),
  ...(fileProblem === undefined ? [] : [fileProblem]),
];
