// `ticket import`: imports issues from a file or from GitHub into the backlog. Each issue is imported once; all of them or none.

import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Result } from "../../../core/result.ts";
import { openGh } from "../../../ticket/intake/gh.ts";
import { GITHUB_REPO, issuesOfGitHub } from "../../../ticket/intake/github-issues.ts";
import {
  type GivenIssue,
  issuesOfCsv,
  issuesOfJson,
  MAX_IMPORTED,
  ticketsOf,
} from "../../../ticket/intake/import-list.ts";
import { issuesOfTracker } from "../../../ticket/intake/tracker-issues.ts";
import { importTickets } from "../../../ticket/intake/import-tickets.ts";
import type { TrackerSettings } from "../../../settings/trackers.ts";
import { openTrackers } from "../../../tracker/open.ts";
import { follow } from "../../../ticket/track/tracked-note.ts";
import { openTicketFolder } from "../../../ticket/file/open-folder.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { shownSettings } from "../../shown-settings.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { optional } from "../../../core/optional.ts";

export type ImportOptions = {
  readonly file?: string;
  readonly github?: string;
  readonly tracker?: string;
  readonly label?: string;
  readonly limit?: string;
  readonly dryRun: boolean;
};

type Given = { readonly issues: Result<readonly GivenIssue[]>; readonly origin: string; readonly repo: string };

const MAX_BYTES = 16 * 1024 * 1024;
const DEFAULT_LIMIT = "100";

export async function ticketImport(io: Io, options: ImportOptions): Promise<number> {
  requireOperator(io, "ticket import");
  const config = await shownSettings(io);
  const { issues, origin, repo } = await readGiven(io, options, config.trackers);
  if (!issues.ok) throw problemError(issues.error);
  const tickets = ticketsOf(issues.value, { origin, repo });
  if (!tickets.ok) throw problemError({ ...tickets.error, message: `${origin}: ${tickets.error.message}.` });
  const folder = openTicketFolder({ project: io.cwd, settings: config.tickets });
  const imported = await importTickets(folder, tickets.value, options);
  if (!imported.ok) throw problemError(imported.error);
  const { created, known } = imported.value;
  // From now on issue and ticket follow each other; a ticket that no person imported never moves an issue.
  if (!options.dryRun && isTracked(origin, config.trackers))
    for (const { source } of [...created, ...known]) follow(io.home, io.cwd, source);
  if (io.json) {
    printJson(io, { dryRun: options.dryRun, created, known });
    return EXIT.ok;
  }
  if (!io.quiet)
    io.out(
      `${options.dryRun ? "Would import" : "Imported"} ${created.length} ticket(s)${created.length === 0 ? "" : ":"}`,
    );
  for (const { path, title, source } of created) {
    if (io.quiet) io.out(path ?? source);
    else io.out(plainText(`  - ${path ?? source}  ${oneLine(title, 100)}`));
  }
  if (known.length > 0) io.err(`${known.length} were imported before and stay unchanged.`);
  return EXIT.ok;
}

async function readGiven(
  io: Io,
  { file, github, tracker, label, limit }: ImportOptions,
  trackers: readonly TrackerSettings[],
): Promise<Given> {
  if ([file, github, tracker].filter((each) => each !== undefined).length !== 1)
    throw usageError(
      "import_source",
      "Say where the issues come from: --file, --github or --tracker.",
      "passrail ticket import --file issues.csv   or   --github owner/repo",
    );
  if (file !== undefined) {
    if (label !== undefined || limit !== undefined)
      throw usageError("flag_conflict", "--label and --limit belong to --github and --tracker.");
    const text = readText(io, file);
    const origin = `file:${basename(file)}`;
    return { issues: /\.csv$/iu.test(file) ? issuesOfCsv(text) : issuesOfJson(text), origin, repo: "TBD" };
  }
  const most = limit ?? DEFAULT_LIMIT;
  if (!/^[1-9][0-9]{0,2}$/u.test(most) || Number(most) > MAX_IMPORTED)
    throw usageError("number_invalid", `--limit: a number from 1 to ${MAX_IMPORTED}.`);
  if (tracker !== undefined) {
    const known = openTrackers(trackers, io.environment);
    const found = known.find(({ origin }) => origin === tracker);
    if (found === undefined)
      throw usageError(
        "tracker_unknown",
        `--tracker: your settings have no tracker "${tracker}".`,
        known.length === 0
          ? "docs/trackers.md shows the setting trackers of your own passrail.yaml"
          : known.map(({ origin }) => origin).join(", "),
      );
    const query = { limit: Number(most), ...optional({ label }) };
    return { issues: await issuesOfTracker(found, query), origin: found.origin, repo: "TBD" };
  }
  const repo = github ?? "";
  if (!GITHUB_REPO.test(repo)) throw usageError("repo_invalid", `--github: "${repo}" is not owner/repo.`);
  const query = { repo, limit: Number(most), ...optional({ label }) };
  return { issues: await issuesOfGitHub(openGh(io.environment, io.cwd), query), origin: `github:${repo}`, repo };
}

function isTracked(origin: string, trackers: readonly TrackerSettings[]): boolean {
  return openTrackers(trackers, {}).some((tracker) => tracker.origin === origin);
}

function readText(io: Pick<Io, "cwd">, shown: string): string {
  if (!/\.(csv|json)$/iu.test(shown)) throw usageError("import_format", `--file: ${shown} is neither .json nor .csv.`);
  let handle: number;
  try {
    handle = openSync(resolve(io.cwd, shown), "r");
  } catch (error) {
    throw new CliError(
      "import_not_found",
      `${shown} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`,
    );
  }
  try {
    const stat = fstatSync(handle);
    if (!stat.isFile() || stat.size > MAX_BYTES)
      throw new CliError("import_invalid", `${shown} is not a file of at most ${MAX_BYTES / 1024 / 1024} MiB.`);
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}
