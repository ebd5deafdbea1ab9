// One entry of the activity: a message, a thought, a tool call, a notice. Everything an agent wrote is shown as text.

import {
  Bot,
  Brain,
  Check,
  ChevronDown,
  ChevronRight,
  CircleHelp,
  FilePen,
  FileText,
  Gavel,
  Globe,
  ListChecks,
  LoaderCircle,
  type LucideIcon,
  Search,
  SquareTerminal,
  TriangleAlert,
  Wrench,
  X,
} from "lucide-react";
import type { ReactNode } from "react";
import type { ActivityCall, ActivityItem } from "../../../../src/core/view/activity.ts";
import type { MiniDiff, ToolKind } from "../../../../src/core/view/tool-call.ts";
import { SafeText } from "../../ui/safe-text.tsx";
import { clock, duration } from "../../ui/time.tsx";

export type EntryProps = {
  readonly item: ActivityItem;
  readonly isOpen: (place: number) => boolean;
  readonly toggle: (place: number) => void;
};

/** Lines of a result that are shown before a person asks for more. */
const FIRST_LINES = 3;

export function Entry({ item, isOpen, toggle }: EntryProps): ReactNode {
  const open = isOpen(item.place);
  const turn = (): void => toggle(item.place);
  switch (item.is) {
    case "began":
      return (
        <Line at={item.at} className="text-xs text-muted">
          <SafeText>{item.model === null ? "The agent began." : `The agent began, with ${item.model}.`}</SafeText>
        </Line>
      );
    case "said":
      return (
        <Line at={item.at}>
          <SafeText>{item.text}</SafeText>
          {item.isCut && <span className="text-muted"> … the rest is in the raw events</span>}
        </Line>
      );
    case "thought":
      return <Thought text={item.text} isOpen={open} turn={turn} />;
    case "call":
      return <Call call={item.call} isOpen={open} turn={turn} />;
    case "calls":
      return <Calls item={item} isOpen={open} turn={turn} />;
    case "notice":
      return <Notice item={item} />;
    case "task":
      return (
        <p className="flex min-w-0 items-start gap-2 py-1 text-sm">
          <Bot className="mt-0.5 size-4 shrink-0 text-muted" />
          <span className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium">
              <SafeText>{item.name}</SafeText>
            </span>{" "}
            <span className="text-muted">
              <SafeText>{item.status}</SafeText>
            </span>
            {item.text !== "" && (
              <>
                {": "}
                <SafeText>{item.text}</SafeText>
              </>
            )}
          </span>
        </p>
      );
    case "printed":
      return (
        <pre className="font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap">
          <SafeText>{item.lines.join("\n")}</SafeText>
        </pre>
      );
  }
}

function Line({
  at,
  className = "text-sm",
  children,
}: {
  readonly at: string;
  readonly className?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className={`flex min-w-0 gap-3 py-1 max-sm:flex-col max-sm:gap-0 ${className}`}>
      {at !== "" && (
        <time dateTime={at} className="w-16 shrink-0 text-xs leading-5 whitespace-nowrap text-muted tabular">
          {timeOfDay(at)}
        </time>
      )}
      <p className="max-w-[80ch] min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap">{children}</p>
    </div>
  );
}

function Thought({
  text,
  isOpen,
  turn,
}: {
  readonly text: string;
  readonly isOpen: boolean;
  readonly turn: () => void;
}): ReactNode {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={turn}
      className="flex min-h-7 w-full min-w-0 cursor-pointer items-start gap-2 py-1 text-left text-sm text-muted italic pointer-coarse:min-h-11"
    >
      <Brain className="mt-0.5 size-4 shrink-0" />
      <span className="sr-only">Thought:</span>
      <span className={`min-w-0 [overflow-wrap:anywhere] ${isOpen ? "max-w-[80ch] whitespace-pre-wrap" : "truncate"}`}>
        <SafeText>{isOpen ? text : firstLine(text)}</SafeText>
      </span>
    </button>
  );
}

const KINDS: Readonly<Record<ToolKind, LucideIcon>> = {
  command: SquareTerminal,
  read: FileText,
  search: Search,
  edit: FilePen,
  web: Globe,
  task: Bot,
  plan: ListChecks,
  verdict: Gavel,
  question: CircleHelp,
  other: Wrench,
};

function Call({
  call,
  isOpen,
  turn,
}: {
  readonly call: ActivityCall;
  readonly isOpen: boolean;
  readonly turn: () => void;
}): ReactNode {
  const Kind = KINDS[call.kind];
  const lines = call.output.trimEnd().split("\n");
  const shown = isOpen ? lines : lines.slice(0, FIRST_LINES);
  const hasOutput = call.output.trim() !== "";
  const isLong = lines.length > FIRST_LINES || call.detail !== "" || lines.some((line) => line.length > 160);
  return (
    <section className="my-1 min-w-0 overflow-hidden rounded-md border border-line bg-panel">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={turn}
        className="flex min-h-8 w-full min-w-0 cursor-pointer items-center gap-2 px-2.5 py-1 text-left text-sm hover:bg-sunken pointer-coarse:min-h-11"
      >
        <Kind className="size-4 shrink-0 text-muted" />
        <span className="shrink-0 font-semibold">
          <SafeText max={40}>{shortName(call.name)}</SafeText>
        </span>
        <code className="min-w-0 flex-1 truncate font-mono text-xs">
          <SafeText>{call.title}</SafeText>
        </code>
        {call.diff !== null && <Counts diff={call.diff} />}
        <Outcome call={call} />
      </button>
      {isOpen && call.detail !== "" && <Block>{call.detail}</Block>}
      {call.diff !== null && <Diff diff={call.diff} />}
      {hasOutput && (isOpen || call.diff === null) && (
        <div className={isOpen ? "" : "max-h-16 overflow-hidden"}>
          <Block>{shown.join("\n")}</Block>
        </div>
      )}
      {!isOpen && hasOutput && isLong && call.diff === null && lines.length > FIRST_LINES && (
        <p className="border-t border-line px-2.5 py-0.5 text-xs text-muted">{lines.length - FIRST_LINES} more lines</p>
      )}
      {isOpen && call.isCut && <p className="px-2.5 pb-1 text-xs text-muted">The rest is in the raw events.</p>}
    </section>
  );
}

function Outcome({ call: { ok, ms, exit } }: { readonly call: ActivityCall }): ReactNode {
  if (ok === null)
    return (
      <span className="flex shrink-0 items-center gap-1 text-xs text-active">
        <LoaderCircle className="turning size-3.5" /> running
      </span>
    );
  const took = ms === null ? "" : seconds(ms);
  return (
    <span className={`flex shrink-0 items-center gap-1 text-xs tabular ${ok ? "text-good" : "text-bad"}`}>
      {ok ? <Check className="size-3.5" /> : <X className="size-3.5" />}
      <span className="sr-only">{ok ? "ended well" : "failed"}</span>
      {exit !== null && !ok && `exit ${exit} `}
      {took}
    </span>
  );
}

function Counts({ diff: { added, removed } }: { readonly diff: MiniDiff }): ReactNode {
  return (
    <span className="shrink-0 text-xs tabular">
      <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  );
}

const SIGNS = { "+": "bg-good-soft text-good", "-": "bg-bad-soft text-bad", " ": "text-muted" } as const;

function Diff({ diff: { lines, added, removed } }: { readonly diff: MiniDiff }): ReactNode {
  const left = added + removed - lines.filter(({ sign }) => sign !== " ").length;
  return (
    <div className="border-t border-line font-mono text-xs leading-5">
      {lines.map(({ sign, text }, at) => (
        <div key={at} className={`flex min-w-0 px-2.5 ${SIGNS[sign]}`}>
          <span className="w-4 shrink-0 select-none">{sign}</span>
          <span className="min-w-0 [overflow-wrap:anywhere] whitespace-pre-wrap">
            <SafeText>{text}</SafeText>
          </span>
        </div>
      ))}
      {left > 0 && <p className="px-2.5 py-0.5 font-sans text-muted">{left} more changed lines</p>}
    </div>
  );
}

function Block({ children }: { readonly children: string }): ReactNode {
  return (
    <pre className="border-t border-line px-2.5 py-1 font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap text-muted">
      <SafeText>{children}</SafeText>
    </pre>
  );
}

function Calls({
  item,
  isOpen,
  turn,
}: {
  readonly item: Extract<ActivityItem, { readonly is: "calls" }>;
  readonly isOpen: boolean;
  readonly turn: () => void;
}): ReactNode {
  const Turn = isOpen ? ChevronDown : ChevronRight;
  return (
    <section className="my-1 border-y border-dashed border-line">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={turn}
        className="flex min-h-8 w-full cursor-pointer items-center gap-2 px-2.5 text-left text-sm text-muted hover:bg-sunken pointer-coarse:min-h-11"
      >
        <Turn className="size-4 shrink-0" />
        <SafeText>{item.title}</SafeText>
      </button>
      {isOpen && (
        <ul className="pb-1">
          {item.calls.map((call) => (
            <li key={call.place} className="flex min-w-0 items-center gap-2 px-2.5 text-xs leading-6">
              <span className="w-16 shrink-0 truncate font-medium">
                <SafeText max={40}>{shortName(call.name)}</SafeText>
              </span>
              <code className="min-w-0 flex-1 truncate font-mono">
                <SafeText>{call.title}</SafeText>
              </code>
              <Outcome call={call} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const NOTICES = {
  retry: "text-attention",
  limit: "text-held",
  denied: "text-bad",
  warning: "text-attention",
} as const;

function Notice({ item }: { readonly item: Extract<ActivityItem, { readonly is: "notice" }> }): ReactNode {
  return (
    <p className={`flex min-w-0 items-start gap-2 py-1 text-sm ${NOTICES[item.kind]}`}>
      <TriangleAlert className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        {item.kind === "denied" && <span className="font-medium">Refused: </span>}
        <SafeText>{item.text}</SafeText>
        {item.resetsAt !== null && ` Until ${clock(item.resetsAt)}.`}
      </span>
    </p>
  );
}

/** `mcp__passrail__submit_verdict` is submit_verdict of passrail. */
function shortName(name: string): string {
  return name.startsWith("mcp__") ? (name.split("__").at(-1) ?? name) : name;
}

/** Short and always as wide: 09:05:07. */
function timeOfDay(at: string): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0] ?? "";
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}
