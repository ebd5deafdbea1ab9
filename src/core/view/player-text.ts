// The runner of a run that names none, in words; and the fix if no runner is ready.

type Ready = { readonly runner: string; readonly version: string; readonly evidence: string };

export function playerText({ runner, version, evidence }: Ready, others: readonly Ready[]): string {
  const why = evidence === "" ? "" : `, ${evidence}`;
  const [another] = others;
  const other = another === undefined ? "" : ` Another one: --agent '*=${another.runner}'`;
  return `${runner} ${version} plays every agent (installed${why}).${other}`;
}

type Gap = { readonly runner: string; readonly fix: string };

/** A line per program with the command that makes it ready. */
export function installText(gaps: readonly Gap[]): string {
  const shown = gaps.filter(({ fix }) => fix !== "");
  const wide = Math.max(0, ...shown.map(({ runner }) => runner.length));
  return [
    "Make one ready:",
    ...shown.map(({ runner, fix }) => `  ${runner.padEnd(wide)}  ${fix}`),
    "or let a program of your own play: --agent '*=COMMAND'",
    "or look first, without any agent:  passrail demo",
  ].join("\n");
}
