// A dialog with one form: its fields, the equivalent command, the error, and the buttons.

import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { CopyLine } from "./copy-line.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./states.tsx";

export type FormDialogProps = {
  readonly title: string;
  readonly close: () => void;
  readonly submit: () => void;
  /** The name of the button that submits. */
  readonly action: string;
  readonly look?: "primary" | "danger";
  /** The button that closes the dialog; not "Cancel", which is an action on runs. */
  readonly cancel?: string;
  /** Why it cannot be submitted now; undefined if it can. */
  readonly disabledBecause: string | undefined;
  /** Null while nothing went wrong. */
  readonly error: unknown;
  /** Empty if no command does the same. */
  readonly command: string;
  readonly children: ReactNode;
};

export function FormDialog({
  title,
  close,
  submit,
  action,
  look = "primary",
  cancel = "Close",
  disabledBecause,
  error,
  command,
  children,
}: FormDialogProps): ReactNode {
  return (
    <Dialog title={title} close={close}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (disabledBecause === undefined) submit();
        }}
      >
        {children}
        {command !== "" && <CopyLine>{command}</CopyLine>}
        {error !== null && <Failure error={error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{cancel}</Button>
          <Button type="submit" look={look} disabledBecause={disabledBecause}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
