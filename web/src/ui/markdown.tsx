// Markdown from people and agents, treated as hostile: only plain structure stays, images never load, links send no referrer, and invisible
// characters become visible.

import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { plain } from "../base/plain-text.ts";

const MAX = 64 * 1024;

export function Markdown({ children }: { readonly children: string }): ReactNode {
  return (
    <div className="flex flex-col gap-2 text-sm [overflow-wrap:anywhere]">
      <ReactMarkdown remarkPlugins={PLUGINS} rehypePlugins={SANITIZE} components={COMPONENTS}>
        {plain(children, MAX)}
      </ReactMarkdown>
      {children.length > MAX && <p className="text-muted">… cut at {MAX / 1024} KB</p>}
    </div>
  );
}

const schema: typeof defaultSchema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter(
    (name) => !["picture", "source", "details", "summary"].includes(name),
  ),
  protocols: { ...defaultSchema.protocols, href: ["http", "https", "mailto"], src: [] },
};
const SANITIZE = [[rehypeSanitize, schema]] as [[typeof rehypeSanitize, typeof schema]];
const PLUGINS = [remarkGfm];

/** All headings of a text rank below those of the page. */
const heading = ({ children }: { readonly children?: ReactNode }): ReactNode => (
  <h3 className="mt-2 font-semibold">{children}</h3>
);

const COMPONENTS: Components = {
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
  a: ({ href, children }) =>
    href === undefined || href === "" ? (
      <span>{children}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="underline">
        {children}
      </a>
    ),
  img: ({ alt }) => <span className="text-muted">[image{alt === undefined || alt === "" ? "" : `: ${alt}`}]</span>,
  input: ({ checked }) => (
    <input
      type="checkbox"
      checked={checked === true}
      readOnly
      disabled
      aria-label={checked === true ? "done" : "open"}
    />
  ),
  ul: ({ children }) => <ul className="list-disc pl-5">{children}</ul>,
  ol: ({ children }) => <ol className="list-decimal pl-5">{children}</ol>,
  blockquote: ({ children }) => <blockquote className="border-l-2 border-line pl-3 text-muted">{children}</blockquote>,
  pre: ({ children }) => (
    <pre tabIndex={0} className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs">
      {children}
    </pre>
  ),
  code: ({ children }) => <code className="rounded bg-sunken px-1 font-mono text-[0.85em]">{children}</code>,
  table: ({ children }) => (
    <div tabIndex={0} role="region" aria-label="Table" className="overflow-x-auto">
      <table className="border-collapse [&_td]:border [&_td]:border-line [&_td]:px-2 [&_th]:border [&_th]:border-line [&_th]:px-2">
        {children}
      </table>
    </div>
  ),
};
