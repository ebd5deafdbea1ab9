// Mastra's workflow on libSQL: six steps between two that suspend until a person resumes them; it stores a snapshot after each. It is measured as
// it comes, with `synchronous = NORMAL`: a power cut loses what was written last, so the comparison favours it.

import { join } from "node:path";
import { answerOf, type Contestant, type Place, STAGES, SUBJECT } from "./contestant.ts";

type Passed = { readonly status: string; readonly error?: unknown };
type Run = {
  start(options: { inputData: unknown }): Promise<Passed>;
  resume(options: { step: string; resumeData: unknown }): Promise<Passed>;
};
type Step = object;
type Building = { then(step: Step): Building; commit(): object };
type Given = {
  readonly inputData: object;
  readonly resumeData?: { readonly answer: string };
  readonly suspend: (why: object) => Promise<unknown>;
};
type StepOptions = Readonly<Record<string, unknown>> & {
  readonly execute: (given: Given) => Promise<unknown>;
};
type Workflows = {
  readonly createStep: (options: StepOptions) => Step;
  readonly createWorkflow: (options: object) => Building;
};
type Core = {
  readonly Mastra: new (
    options: object,
  ) => {
    getWorkflow(name: string): { createRun(): Promise<Run> };
  };
};
type LibSQL = { readonly LibSQLStore: new (options: { id: string; url: string }) => object };
type Zod = { readonly z: { any(): object } };

export async function openMastra({ dir, load }: Place): Promise<Contestant> {
  const { Mastra } = await load<Core>("@mastra/core");
  const { createStep, createWorkflow } = await load<Workflows>("@mastra/core/workflows");
  const { LibSQLStore } = await load<LibSQL>("@mastra/libsql");
  const { z } = await load<Zod>("zod");
  const any = { inputSchema: z.any(), outputSchema: z.any() };
  const gate = (id: string): Step =>
    createStep({
      id,
      ...any,
      resumeSchema: z.any(),
      suspendSchema: z.any(),
      execute: async ({ inputData, resumeData, suspend }) =>
        resumeData === undefined ? suspend({ asks: id }) : { ...inputData, [id]: resumeData.answer },
    });
  const stage = (id: string): Step =>
    createStep({ id, ...any, execute: async ({ inputData }) => ({ ...inputData, last: answerOf(id) }) });
  const steps = [gate("start"), ...STAGES.map(stage), gate("ship")];
  const flow = steps.reduce<Building>((built, step) => built.then(step), createWorkflow({ id: "feature", ...any }));
  const storage = new LibSQLStore({ id: "bench", url: `file:${join(dir, "mastra.db")}` });
  const mastra = new Mastra({ workflows: { feature: flow.commit() }, storage, logger: false });
  const oneRun = async (): Promise<void> => {
    const run = await mastra.getWorkflow("feature").createRun();
    let passed = await run.start({ inputData: { subject: SUBJECT } });
    for (const step of ["start", "ship"]) {
      if (passed.status !== "suspended") throw new Error(`${passed.status} before ${step}: ${String(passed.error)}`);
      passed = await run.resume({ step, resumeData: { answer: "approve" } });
    }
    if (passed.status !== "success") throw new Error(`${passed.status}: ${String(passed.error)}`);
  };
  return {
    complete: async (runs) => void (await Promise.all(Array.from({ length: runs }, oneRun))),
    close: async () => {},
  };
}
