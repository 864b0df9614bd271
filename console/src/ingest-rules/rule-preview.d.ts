import type { IngestRulePreview } from "../service/logloom.ts";

export function previewRule(
  rule: IngestRulePreview["rule"],
  records: IngestRulePreview["examples"],
): { isLeftOut: boolean; parts: { name: string; before?: string; after?: string }[] }[];
