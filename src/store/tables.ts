// The tables that make up a store, with the columns that both databases have, in an order that no reference minds. Sums of spending come
// last: writing the rows of `spending` makes sums, and those that were stored replace them.

export type StoredTable = {
  readonly name: string;
  readonly key: string;
  readonly columns: readonly string[];
};

/** A row as it is passed between databases: numbers, text, or NULL. */
export type CopiedRow = Readonly<Record<string, string | number | null>>;

/** The last numbers that were given; they are never given again. */
export type LastNumbers = {
  readonly seq: number;
  readonly run: number;
  readonly handoff: number;
  readonly work: number;
};

const words = (text: string): readonly string[] => text.split(" ");

export const SUMS = "spent";

export const STORED_TABLES: readonly StoredTable[] = [
  { name: "flows", key: "hash", columns: words("hash body") },
  {
    name: "runs",
    key: "number",
    columns: words(
      "number id flow flow_hash subject_id subject_title created_at status word stage version head updated_at updated_seq state",
    ),
  },
  { name: "events", key: "seq", columns: words("seq run_number run_id version type at actor body hash") },
  { name: "signals", key: "run_number, signal_id", columns: words("run_number signal_id") },
  {
    name: "attempts",
    key: "run_number, stage, attempt",
    columns: words(
      "run_number run_id stage attempt track status handoff ready_seq ready_at started_at ended_at outcome_seq facts",
    ),
  },
  {
    name: "handoffs",
    key: "id",
    columns: words(
      "id run_number run_id number track from_stage from_agent from_attempt to_stage to_agent loop state rejection_reason created_at processed_at added",
    ),
  },
  { name: "inbox", key: "run_number, number", columns: words("run_number run_id number kind stage opened_at item") },
  { name: "work", key: "id", columns: words("id run_id command") },
  {
    name: "spending",
    key: "run_number, stage, attempt",
    columns: words(
      "run_number run_id stage attempt agent runner model told_model ticket day started_at reserved_usd reserved_tokens usd input_tokens output_tokens cached_tokens settled_seq",
    ),
  },
  { name: "gaps", key: "first_seq", columns: words("first_seq last_seq") },
  { name: "forgotten", key: "day", columns: words("day usd tokens") },
  { name: "requests", key: "caller, key", columns: words("caller key request claimed_at answer") },
  { name: "checks", key: "key", columns: words("key run_id saved_at body") },
  {
    name: "holds",
    key: "runner, account",
    columns: words("runner account cause reason since until run_id set_by"),
  },
  { name: SUMS, key: "scope, key", columns: words("scope key usd tokens") },
];

/** A store that is read as a whole, at one moment. */
export type TableSource = {
  readonly shown: string;
  /** Attempts that the store says are at work. */
  readonly running: number;
  readonly last: LastNumbers;
  readonly rows: (table: StoredTable) => AsyncIterable<readonly CopiedRow[]>;
};
