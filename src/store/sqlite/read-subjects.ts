// Lists subjects: each with its newest run, the number of its runs and their cost.

import type { SQLInputValue } from "node:sqlite";
import type { SubjectFilter, SubjectRecord } from "../store.ts";
import type { Queries } from "./queries.ts";
import { RUN_SUMMARY, toSubjectRecord } from "../rows.ts";
import { OPEN_RUNS_SINCE } from "./migrations.ts";

export function readSubjects({ all, schema }: Queries) {
  function listSubjects({ id, flow, open, before, limit }: SubjectFilter): readonly SubjectRecord[] {
    // The index by subject holds the runs of each in order of number: whether there is a newer one is a single look.
    const conditions = ["NOT EXISTS (SELECT 1 FROM runs n WHERE n.subject_id = r.subject_id AND n.number > r.number)"];
    const values: SQLInputValue[] = [];
    if (id !== undefined) {
      conditions.push("r.subject_id = ?");
      values.push(id);
    }
    if (flow !== undefined) {
      conditions.push("r.flow = ?");
      values.push(flow);
    }
    if (open !== undefined) conditions.push(`r.status ${open ? "NOT " : ""}IN ('completed', 'canceled')`);
    if (before !== undefined) {
      conditions.push("r.number < ?");
      values.push(before);
    }
    // Few subjects are open, and a look at every run that ever ended would find no more of them.
    const by = open === true && id === undefined && schema() >= OPEN_RUNS_SINCE ? "INDEXED BY runs_open" : "";
    const spent = "FROM runs o JOIN spending s ON s.run_number = o.number WHERE o.subject_id = r.subject_id";
    const sql = `
      SELECT ${RUN_SUMMARY},
        (SELECT count(*) FROM runs o WHERE o.subject_id = r.subject_id) AS runs,
        (SELECT coalesce(sum(s.usd), 0) ${spent}) AS usd,
        (SELECT count(*) ${spent} AND s.usd IS NULL) AS unknown_usd
      FROM runs r ${by} WHERE ${conditions.join(" AND ")} ORDER BY r.number DESC LIMIT ?`;
    return all(toSubjectRecord, sql, ...values, limit);
  }

  return { listSubjects };
}
