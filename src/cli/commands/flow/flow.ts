// `flow list|show|graph|schema`: reads flow files only. Nothing here opens the store or starts a run.

import { flowSchema as schemaOfFlows } from "../../../core/check/schema-at.ts";
import { EXIT } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { type Column, printJson, printTable } from "../../terminal/output.ts";
import { openCatalog, requireFlow } from "./catalog.ts";
import { drawFlow } from "./graph.ts";
import { describeFlow } from "./describe.ts";

type Listed = {
  readonly name: string;
  readonly title: string;
  readonly subject: string;
  readonly stages: number;
  readonly origin: string;
  readonly file: string;
  readonly problem: string | null;
  /** The name that starts the flow of several that the input chooses. */
  readonly family: string | null;
};

export async function flowList(io: Io): Promise<number> {
  const catalog = openCatalog(io);
  const flows = catalog.listFlows().map(({ name, origin, file }): Listed => {
    const checked = catalog.requireFlow(name);
    if (checked.ok) {
      const { title = "", family = null, subject, stages } = checked.value.flow;
      return { name, title, family, subject, stages: stages.length, origin, file, problem: null };
    }
    const problem = checked.error[0]?.message ?? "it cannot be read";
    return { name, title: "", family: null, subject: "", stages: 0, origin, file, problem };
  });
  if (io.json) printJson(io, flows);
  else if (io.quiet) for (const { name } of flows) io.out(name);
  else printTable(io, flows.map(rowOf));
  return EXIT.ok;
}

function rowOf({ name, title, family, subject, stages, origin, problem }: Listed): readonly Column[] {
  const named = family === null ? title : `${title} (family ${family})`;
  const about = problem === null ? named : `has errors: ${problem}; see: passrail flow check ${name}`;
  return [
    { name: "flow", value: name, color: "bold" },
    { name: "subject", value: subject },
    { name: "stages", value: `${stages} stages` },
    { name: "origin", value: origin },
    { name: "about", value: about, ...(problem === null ? {} : { color: "red" }) },
  ];
}

/** The flow as people read it; with --json as the engine has it, every shorthand written out. */
export async function flowShow(io: Io, name: string): Promise<number> {
  const { entry, checked } = requireFlow(io, name);
  if (io.json) printJson(io, checked.flow);
  else for (const line of describeFlow(checked.flow, entry)) io.out(line);
  return EXIT.ok;
}

/** Mermaid, for a README or any viewer that knows it. */
export async function flowGraph(io: Io, name: string): Promise<number> {
  const { checked } = requireFlow(io, name);
  const text = drawFlow(checked.flow);
  if (io.json) printJson(io, { flow: name, mermaid: text });
  else io.out(text);
  return EXIT.ok;
}

/** For editors: the same schema that the check uses. */
export async function flowSchema(io: Io): Promise<number> {
  printJson(io, { title: "Passrail flow", ...schemaOfFlows() });
  return EXIT.ok;
}
