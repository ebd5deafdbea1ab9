// `inbox`: the items that wait for a person, with the commands that answer them.

import type { Run } from "../../../core/run/run.ts";
import { EXIT } from "../../errors.ts";
import type { Store } from "../../../store/store.ts";
import type { Io } from "../../terminal/io.ts";
import { age, paint, printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { withReader } from "../../report.ts";
import { waitingLines } from "../../terminal/progress.ts";
import { askedBy, itemJson } from "../../terminal/run-view.ts";
import { optional } from "../../../core/optional.ts";

type Waiting = {
  readonly number: number;
  readonly record: Awaited<ReturnType<Store["inbox"]>>[number];
  readonly run?: Run;
};

export async function inboxOf(store: Store): Promise<readonly Waiting[]> {
  return Promise.all(
    (await store.inbox()).map(async (record) => {
      const run = (await store.loadRun(record.runId))?.run;
      const number = (await store.findRuns(record.runId)).find(({ id }) => id === record.runId)?.number ?? 0;
      return { record, number, ...optional({ run }) };
    }),
  );
}

export async function inbox(io: Io): Promise<number> {
  const waiting = await withReader(io, async (store) => (store === undefined ? [] : inboxOf(store)));
  if (io.json) {
    printJson(io, {
      items: waiting.map(({ number, record }) => ({
        ...itemJson(record.runId, number, record.item),
        flow: record.flow,
        subject: record.subject,
      })),
    });
  } else if (io.quiet) {
    for (const { record } of waiting) io.out(`${record.runId}.${record.item.number}`);
  } else if (io.plain) {
    printTable(
      io,
      waiting.map(({ number, record: { runId, item, flow, subject } }) =>
        [
          `${runId}.${item.number}`,
          `${number}.${item.number}`,
          item.kind,
          item.stage,
          item.who,
          flow,
          item.openedAt,
          subject.title,
          askedBy(item).join(" / "),
        ].map((value) => ({ name: "", value })),
      ),
    );
  } else if (waiting.length === 0) {
    io.out("Nothing waits for you.");
  } else {
    for (const [index, { number, record, run }] of waiting.entries()) {
      if (index > 0) io.out("");
      io.out(paint(io, "bold", oneLine(`${number}.${record.item.number}  ${record.subject.title}`, io.columns)));
      io.out(
        paint(
          io,
          "dim",
          oneLine(`flow ${record.flow} · ${record.subject.id} · ${age(record.item.openedAt)}`, io.columns),
        ),
      );
      for (const line of waitingLines(record.item, number, run)) io.out(line);
    }
  }
  return EXIT.ok;
}
