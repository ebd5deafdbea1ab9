import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function TicketsPage(): ReactNode {
  return <PageHead title="tickets" />;
}
