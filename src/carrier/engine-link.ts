// A carrier's side of the socket: at most one engine at a time. Without one the carrier works on: what must not be lost is kept until an
// engine confirms it, questions get the answer that is safe, and events are dropped.

import { createServer, type Server, type Socket } from "node:net";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { JsonObject } from "../core/json.ts";
import type { HeardMessage, KeptNews } from "./kept-file.ts";
import {
  openWire,
  PROTOCOL,
  type Question,
  type ToCarrier,
  toCarrierSchema,
  type ToEngine,
  type CarrierWire,
} from "./wire.ts";

export type Welcome = Extract<ToEngine, { type: "welcome" }>["at"];

export type EngineLink = {
  /** Resolves when an engine has stored the facts, or when none is there to do it. Rejects if an engine could not. */
  note(facts: JsonObject): Promise<void>;
  /** The agent has a message: the same. */
  heard(message: HeardMessage): Promise<void>;
  /** The engine's answer; undefined without an engine. */
  ask(question: Question): Promise<unknown>;
  spent(reported: ReportedUsage): void;
  offerCheck(): void;
  /** Only to an engine that is there and keeps up. */
  tell(message: Extract<ToEngine, { type: "observed" | "save-check" | "checked" }>): void;
  /** Facts that no engine has confirmed, and the last usage. */
  kept(): KeptNews;
  /** Says that the report is on disk, and closes. */
  reported(): Promise<void>;
};

export type LinkOptions = {
  readonly id: string;
  /** Relative to the working directory. */
  readonly socket: string;
  readonly at: () => Welcome;
  /** Called before the attempt continues with news that no engine has stored, and again when one has. */
  readonly keep: (news: KeptNews) => void;
  readonly onCommand: (
    command: Extract<ToCarrier, { type: "start" | "abort" | "lease" | "check" | "room" | "message" }>,
  ) => void;
};

type Waiting = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

type Owed = Extract<ToEngine, { type: "note" | "heard" }>;

/** What outlives the connection to one engine. */
type Kept = {
  /** What an engine has to store and has not confirmed. */
  readonly owed: Map<number, Owed>;
  readonly waiting: Map<number, Waiting>;
  spent: ReportedUsage | null;
  hasCheck: boolean;
  /** Facts were kept outside that no engine had. */
  isKept: boolean;
};

export async function openEngineLink(options: LinkOptions): Promise<EngineLink> {
  const kept: Kept = { owed: new Map(), waiting: new Map(), spent: null, hasCheck: false, isKept: false };
  let engine: CarrierWire<ToEngine> | undefined;
  let last = 0;
  const server = await listen(options.socket, greet);

  function greet(socket: Socket): void {
    const wire: CarrierWire<ToEngine> = openWire(socket, toCarrierSchema, {
      message: (message) => {
        if (message.type === "hello") {
          // Whoever knows the id can read the state folder, and is the user.
          if (message.id !== options.id) return wire.destroy();
          return welcome(wire);
        }
        if (wire !== engine) return;
        if (message.type === "answer") return answer(kept, options, message);
        options.onCommand(message);
      },
      closed: () => {
        if (wire !== engine) return;
        engine = undefined;
        giveUpWaiting(kept);
      },
    });
  }

  function welcome(wire: CarrierWire<ToEngine>): void {
    engine?.send({ type: "replaced" });
    engine?.end();
    engine = wire;
    wire.send({ type: "welcome", protocol: PROTOCOL, at: options.at() });
    for (const message of kept.owed.values()) wire.send(message);
    if (kept.spent !== null) wire.send({ type: "spent", reported: kept.spent });
    if (kept.hasCheck) wire.send({ type: "check-offered" });
  }

  const asked = (n: number, message: ToEngine): Promise<unknown> => {
    const wire = engine;
    if (wire === undefined) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      kept.waiting.set(n, { resolve, reject });
      wire.send(message);
    });
  };

  const owe = async (message: Owed): Promise<void> => {
    kept.owed.set(message.n, message);
    await asked(message.n, message);
    if (kept.owed.has(message.n)) keep(kept, options);
  };

  return {
    note: (facts) => owe({ type: "note", n: ++last, facts }),
    heard: (message) => owe({ type: "heard", n: ++last, ...message }),
    ask(question) {
      const n = ++last;
      return asked(n, { type: "ask", n, question });
    },
    spent(reported) {
      kept.spent = reported;
      if (engine === undefined) keep(kept, options);
      else engine.send({ type: "spent", reported });
    },
    offerCheck() {
      kept.hasCheck = true;
      engine?.send({ type: "check-offered" });
    },
    tell: (message) => (message.type === "observed" ? engine?.sendIfFree(message) : engine?.send(message)),
    kept: () => unconfirmed(kept),
    async reported() {
      engine?.send({ type: "reported" });
      engine?.end();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        // An engine that does not read any more must not hold the carrier.
        setTimeout(resolve, 1000).unref();
      });
    },
  };
}

function listen(path: string, onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onSocket);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

function unconfirmed({ owed, spent }: Kept): ReturnType<EngineLink["kept"]> {
  const all = [...owed.values()];
  return {
    notes: all.flatMap((each) => (each.type === "note" ? [each.facts] : [])),
    heard: all.flatMap((each) => (each.type === "heard" ? [{ number: each.number, way: each.way }] : [])),
    spent,
  };
}

/** Nobody answers any more: what is owed stays. */
function giveUpWaiting({ waiting }: Kept): void {
  for (const { resolve } of waiting.values()) resolve(undefined);
  waiting.clear();
}

function keep(kept: Kept, options: Pick<LinkOptions, "keep">): void {
  kept.isKept = kept.owed.size > 0;
  options.keep(unconfirmed(kept));
}

function answer(
  kept: Kept,
  options: Pick<LinkOptions, "keep">,
  { n, value, error }: Extract<ToCarrier, { type: "answer" }>,
): void {
  const { owed, waiting } = kept;
  if (error === undefined) owed.delete(n);
  // A later engine must not take old facts for newer ones.
  if (kept.isKept && owed.size === 0) keep(kept, options);
  const found = waiting.get(n);
  waiting.delete(n);
  if (error === undefined) found?.resolve(value);
  else found?.reject(new Error(error));
}
