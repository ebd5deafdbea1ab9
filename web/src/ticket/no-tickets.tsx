import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Empty } from "../ui/states.tsx";

/** Shown if there are no tickets: three ways to create the first one. */
export function NoTickets({
  create,
  cannot,
}: {
  readonly create: () => void;
  readonly cannot: string | undefined;
}): ReactNode {
  return (
    <Empty title="No tickets yet.">
      <p>A ticket is a file in your project. Create one here:</p>
      <Button look="primary" onClick={create} disabledBecause={cannot}>
        Create a ticket
      </Button>
      <p>or in the terminal, or let an agent split a request into tickets:</p>
      <CopyLine>{`passrail ticket new 'What to do'`}</CopyLine>
      <CopyLine>{`passrail spec 'What you want, in a few sentences'`}</CopyLine>
    </Empty>
  );
}
