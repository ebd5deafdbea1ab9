// LangGraph with the checkpointers of SQLite and Postgres: six nodes between two that interrupt until a person resumes them. `sync` makes it
// store each checkpoint before the next node; its SQLite would not sync each commit without being told to.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Answer, answerOf, type Contestant, type Place, STAGES, SUBJECT } from "./contestant.ts";

type Graph = { invoke(input: unknown, config: object): Promise<Record<string, unknown>> };
type Building = {
  addNode(name: string, node: () => unknown): Building;
  addEdge(from: string, to: string): Building;
  compile(options: { checkpointer: object }): Graph;
};
type LangGraph = {
  readonly Annotation: (() => object) & { Root(state: object): object };
  readonly StateGraph: new (state: object) => Building;
  readonly Command: new (options: { resume: unknown }) => object;
  readonly interrupt: (asks: object) => string;
  readonly START: string;
  readonly END: string;
};
type Sqlite = { readonly SqliteSaver: new (db: object) => object };
type Database = { readonly default: new (file: string) => { pragma(text: string): unknown; close(): void } };
type Postgres = {
  readonly PostgresSaver: { fromConnString(url: string): { setup(): Promise<void>; end(): Promise<void> } };
};

export async function openOnSqlite({ dir, load }: Place): Promise<Contestant> {
  const { SqliteSaver } = await load<Sqlite>("@langchain/langgraph-checkpoint-sqlite");
  const { default: Opened } = await load<Database>("better-sqlite3");
  const db = new Opened(join(dir, "langgraph.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  return openWith(await load<LangGraph>("@langchain/langgraph"), new SqliteSaver(db), async () => db.close());
}

export async function openOnPostgres({ database, load }: Place): Promise<Contestant> {
  const { PostgresSaver } = await load<Postgres>("@langchain/langgraph-checkpoint-postgres");
  const saver = PostgresSaver.fromConnString(database);
  await saver.setup();
  return openWith(await load<LangGraph>("@langchain/langgraph"), saver, () => saver.end());
}

function openWith(
  { Annotation, StateGraph, Command, interrupt, START, END }: LangGraph,
  checkpointer: object,
  close: () => Promise<void>,
): Contestant {
  const state = Annotation.Root({ subject: Annotation(), last: Annotation(), start: Annotation(), ship: Annotation() });
  const names = ["start gate", ...STAGES, "ship gate"];
  const gate = (key: "start" | "ship") => () => ({ [key]: interrupt({ asks: key }) });
  const stage = (name: string) => (): { readonly last: Answer } => ({ last: answerOf(name) });
  const nodes = [gate("start"), ...STAGES.map(stage), gate("ship")];
  const built = new StateGraph(state);
  for (const [at, node] of nodes.entries()) built.addNode(names[at] ?? "", node);
  for (const [at, name] of [...names, END].entries()) built.addEdge(names[at - 1] ?? START, name);
  const graph = built.compile({ checkpointer });
  const oneRun = async (): Promise<void> => {
    const config = { configurable: { thread_id: randomUUID() }, durability: "sync" };
    await graph.invoke({ subject: SUBJECT }, config);
    await graph.invoke(new Command({ resume: "approve" }), config);
    const ended = await graph.invoke(new Command({ resume: "approve" }), config);
    if (ended["ship"] !== "approve") throw new Error(`the graph ended elsewhere: ${JSON.stringify(ended)}`);
  };
  return {
    complete: async (runs) => void (await Promise.all(Array.from({ length: runs }, oneRun))),
    close,
  };
}
