import type { ReactNode } from "react";

/** A titled part of a page. */
export function Panel({
  title,
  actions,
  children,
  level = 2,
}: {
  readonly title: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly level?: 2 | 3;
}): ReactNode {
  const Heading = level === 2 ? "h2" : "h3";
  return (
    <section className="min-w-0 rounded-lg border border-line bg-panel">
      <header className="flex flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-2.5">
        <Heading className="min-w-0 text-sm font-semibold [overflow-wrap:anywhere]">{title}</Heading>
        {actions}
      </header>
      <div className="p-4">{children}</div>
    </section>
  );
}

/** The head of a page: its title and actions. */
export function PageHead({ title, children }: { readonly title: ReactNode; readonly children?: ReactNode }): ReactNode {
  return (
    <header className="mb-4 flex flex-wrap items-center justify-between gap-3">
      <h1 className="min-w-0 text-xl font-semibold tracking-tight [overflow-wrap:anywhere]">{title}</h1>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </header>
  );
}
