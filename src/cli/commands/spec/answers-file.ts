// `--answers FILE`: prepared answers as YAML or JSON. Read before the run starts, so that a bad file stops the command early.

import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readYaml } from "../../../file/yaml.ts";
import { type PreparedAnswers, readAnswers } from "../../../ticket/intake/answers.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";

const MAX_BYTES = 256 * 1024;

export async function readAnswersFile(io: Pick<Io, "cwd">, shown: string): Promise<PreparedAnswers> {
  const text = readText(resolve(io.cwd, shown), shown);
  const answers = readAnswers(shown.endsWith(".json") ? fromJson(text, shown) : fromYaml(text, shown));
  if (!answers.ok) throw problemError({ ...answers.error, message: `${shown}: ${answers.error.message}` }, EXIT.usage);
  return answers.value;
}

function readText(file: string, shown: string): string {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new CliError("answers_not_found", `The file of answers ${shown} cannot be read (${code}).`, "", EXIT.usage);
  }
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile() || stat.size > MAX_BYTES)
      throw new CliError(
        "answers_invalid",
        `${shown} is not a file of at most ${MAX_BYTES / 1024} KiB.`,
        "",
        EXIT.usage,
      );
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

function fromJson(text: string, shown: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError("answers_invalid", `${shown} is not JSON: ${(error as Error).message}`, "", EXIT.usage);
  }
}

/** The top level may be a list; our documents are maps, so the list is read below a key. */
function fromYaml(text: string, shown: string): unknown {
  const lines = text.replace(/^\uFEFF/u, "").split(/\r?\n/u);
  const below = (lines[0] === "---" ? lines.slice(1) : lines).map((line) => `  ${line}`);
  const read = readYaml(`answers:\n${below.join("\n")}\n`, { file: shown, subject: "answers", linesBefore: -1 });
  if (read.ok) return read.value.value["answers"];
  const [first] = read.error;
  throw new CliError(
    "answers_invalid",
    `${shown}:${first?.line ?? 1}: ${first?.message ?? "cannot be read"}`,
    "",
    EXIT.usage,
  );
}
