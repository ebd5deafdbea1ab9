// Who is measured, what each needs, and what Passrail has to reach beside it.

import { openBullmq } from "./bullmq.ts";
import type { Contestant, Place } from "./contestant.ts";
import { openDbos } from "./dbos.ts";
import type { Packages } from "./install.ts";
import { openOnPostgres as openLangGraphOnPostgres, openOnSqlite as openLangGraphOnSqlite } from "./langgraph.ts";
import { openMastra } from "./mastra.ts";
import { openOnFile, openOnPostgres } from "./passrail.ts";
import { openPgBoss, PG_BOSS } from "./pg-boss.ts";

export type Peer = {
  readonly title: string;
  readonly open: (place: Place) => Promise<Contestant>;
  readonly packages: Packages;
  /** A program that must be there, and how to get it. */
  readonly program?: { readonly name: string; readonly hint: string };
  /** Which Passrail it is measured beside. */
  readonly beside: "passrail" | "passrail-postgres";
  /** So many times its handoffs per second, at one run and at a hundred. */
  readonly bar: number;
};

const NOTHING: Packages = { dependencies: {} };
const LANGGRAPH = {
  "@langchain/langgraph": "1.4.18",
  "@langchain/langgraph-checkpoint": "1.1.5",
  "@langchain/core": "1.2.13",
  zod: "4.6.7",
};
/** Newer ones want what was not published yet. */
const LANGGRAPH_OVERRIDES = { "@langchain/langgraph-sdk": "1.12.4", "@langchain/protocol": "0.0.19" };

export const PASSRAIL: Readonly<Record<Peer["beside"], Pick<Peer, "title" | "open" | "packages">>> = {
  passrail: { title: "Passrail", open: openOnFile, packages: NOTHING },
  "passrail-postgres": { title: "Passrail on Postgres", open: openOnPostgres, packages: NOTHING },
};

export const PEERS: Readonly<Record<string, Peer>> = {
  bullmq: {
    title: "BullMQ, Redis that syncs each write",
    open: openBullmq,
    packages: { dependencies: { bullmq: "6.7.0", ioredis: "5.9.2" } },
    program: { name: "redis-server", hint: "Debian: apt-get install redis-server" },
    beside: "passrail",
    bar: 1,
  },
  mastra: {
    title: "Mastra on libSQL, without syncs",
    open: openMastra,
    packages: { dependencies: { "@mastra/core": "1.71.0", "@mastra/libsql": "1.23.1", zod: "4.6.7" } },
    beside: "passrail",
    bar: 1,
  },
  langgraph: {
    title: "LangGraph on SQLite",
    open: openLangGraphOnSqlite,
    packages: {
      dependencies: { ...LANGGRAPH, "@langchain/langgraph-checkpoint-sqlite": "1.0.4", "better-sqlite3": "13.2.0" },
      // The older one has to be compiled for Node 24.
      overrides: { ...LANGGRAPH_OVERRIDES, "better-sqlite3": "13.2.0" },
    },
    beside: "passrail",
    bar: 1,
  },
  "langgraph-postgres": {
    title: "LangGraph on Postgres",
    open: openLangGraphOnPostgres,
    packages: {
      dependencies: { ...LANGGRAPH, "@langchain/langgraph-checkpoint-postgres": "1.0.5" },
      overrides: LANGGRAPH_OVERRIDES,
    },
    beside: "passrail-postgres",
    bar: 4,
  },
  dbos: {
    title: "DBOS",
    open: openDbos,
    packages: { dependencies: { "@dbos-inc/dbos-sdk": "5.3.0" } },
    beside: "passrail-postgres",
    bar: 4,
  },
  "pg-boss": {
    title: "pg-boss, raw loop",
    open: openPgBoss,
    packages: PG_BOSS,
    beside: "passrail-postgres",
    bar: 0.7,
  },
};
