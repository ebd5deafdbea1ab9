import type { ReactNode } from "react";
import { PageHead } from "../ui/panel.tsx";

export function GatePage(): ReactNode {
  return <PageHead title="gate" />;
}
