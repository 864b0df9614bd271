import { jsonOf } from "../exact_numbers.ts";
import type { JsonObject } from "../json_values.ts";
import { markNumbers, unmarkNumbers } from "../numbers.ts";
import { textFields } from "../record_fields.ts";
import type { Tools } from "./actions.ts";
import { IngestRules } from "./apply_rules.ts";
import { Budget } from "./budget.ts";
import type { CompiledRule } from "./compiled_rule.ts";
import type { RecordColumns } from "./records.ts";

const fields = ["level", ...textFields] as const;
type Example = { readonly [Name in typeof fields[number]]: string | null } & {
  readonly ts: string;
  readonly attrs: unknown;
};

/** Shows each field and attribute (`@name`) of records before and after a rule. Hashes are `…`. */
export function previewRule(
  rule: { readonly when: readonly object[]; readonly do: object },
  records: readonly Example[],
  levelOf: Tools["levelOf"],
) {
  const rules = new IngestRules([{ ...rule, id: "" } as CompiledRule], {
    hash: () => "…",
    levelOf,
  });
  const budget = new Budget();
  return records.map((record) => {
    const columns: RecordColumns = {
      ...Object.fromEntries(fields.map((field) => [`p_${field}`, [record[field]]])),
      p_ts: [record.ts],
      p_attrs: [JSON.parse(markNumbers(jsonOf(record.attrs))) as JsonObject | null],
    };
    const { batch, dropped } = rules.apply(columns, budget);
    const [was, is] = [columns, dropped > 0 ? columns : batch].map(textsOf);
    const parts = Object.keys({ ...was, ...is })
      .map((name) => ({ name, before: was[name], after: is[name] }));
    return { isLeftOut: dropped > 0, parts };
  });
}

function textsOf(columns: RecordColumns): { readonly [name: string]: string | undefined } {
  const values = [
    ...fields.map((field) => [field, columns[`p_${field}`]?.[0]] as const),
    ...Object.entries(columns.p_attrs?.[0] ?? {}).map(([name, value]) => [`@${name}`, value]),
  ];
  return Object.fromEntries(
    values.filter(([name, value]) => value != null || `${name}`.startsWith("@"))
      .map(([name, value]) => {
        const json = unmarkNumbers(JSON.stringify(value));
        return [name, typeof value === "string" && json.startsWith('"') ? value : json];
      }),
  );
}
