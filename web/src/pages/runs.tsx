import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function RunsPage(): ReactNode {
  return <PageHead title="runs" />;
}
