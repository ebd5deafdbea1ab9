import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Empty } from "../ui/states.tsx";

/** Where there is no ticket yet: three ways to the first one. */
export function NoTickets({
  create,
  cannot,
}: {
  readonly create: () => void;
  readonly cannot: string | undefined;
}): ReactNode {
  return (
    <Empty title="There is no ticket yet.">
      <p>A ticket is a file in your project. Write one here:</p>
      <Button look="primary" onClick={create} disabledBecause={cannot}>
        Create a ticket
      </Button>
      <p>or in the terminal, or let an agent take a request apart into tickets:</p>
      <CopyLine>{`passrail ticket new 'What is to be done'`}</CopyLine>
      <CopyLine>{`passrail spec 'What is wanted, in a few sentences'`}</CopyLine>
    </Empty>
  );
}
