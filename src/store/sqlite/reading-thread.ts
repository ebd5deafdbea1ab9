// The thread of aside.ts: a connection of its own that only reads, and one answer for each question.

import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../core/result.ts";
import { StoreError } from "../store.ts";
import { answerOf, type AsideAnswer, type AsideQuestion } from "./aside.ts";
import { openReader } from "./connection.ts";
import { explainError } from "./errors.ts";
import { prepareReads, type Reads } from "./read.ts";

const file = workerData as string;
let reads: Reads | undefined;

parentPort?.on("message", ({ id, ask, query }: AsideQuestion) => {
  const found = answered(() => {
    reads ??= prepareReads(openReader(file));
    return answerOf(reads, ask, query as never);
  });
  parentPort?.postMessage({ id, ...found });
});

function answered(look: () => unknown): Omit<AsideAnswer, "id"> {
  try {
    return { found: look() };
  } catch (error) {
    const explained = explainError(error, file);
    if (!(explained instanceof StoreError)) return { failed: { message: messageOf(explained) } };
    const { code, message, hint } = explained;
    return { failed: { code, message, hint } };
  }
}
