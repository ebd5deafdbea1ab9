import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function TicketPage(): ReactNode {
  return <PageHead title="ticket" />;
}
