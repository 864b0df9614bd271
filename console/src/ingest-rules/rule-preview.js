// In JavaScript, because the functions are checked with Deno's options, not with the console's.
import { previewRule as preview } from "../../../supabase/functions/_shared/ingest_rules/preview_rule.ts";
import { levelOf } from "../../../supabase/functions/ingest/levels.ts";

export const previewRule = (rule, records) => preview(rule, records, levelOf);
