import { change, useAddress } from "../address/address.ts";
import type { Instants } from "../address/range.ts";
import { variablesOf, withVariables } from "../language/edit-query.ts";
import type { LogPanel } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

const parameterOf = (name: string) => `var-${name}`;

/** A panel with the values that the address has for its variables. */
export function useFilledPanels(panels: LogPanel[]): LogPanel[] {
  const { parameters } = useAddress();
  return panels.map((panel) => ({
    ...panel,
    query_dsl: withVariables(panel.query_dsl, (name) => parameters[parameterOf(name)] ?? ""),
  }));
}

/** A choice for each variable of the panels, with the frequent values of its field. */
export function DashboardVariables({ panels, instants }: {
  panels: LogPanel[];
  instants: Instants | null;
}) {
  const variables = new Map(panels.flatMap(({ query_dsl }) => variablesOf(query_dsl)));
  return [...variables].map(([name, field]) => (
    <Variable key={name} name={name} field={field} instants={instants} />
  ));
}

function Variable({ name, field, instants }: {
  name: string;
  field: string;
  instants: Instants | null;
}) {
  const chosen = useAddress().parameters[parameterOf(name)] ?? "";
  const path = field.replace(/^@/, "attrs.");
  const fields = useOperation("list_log_fields", {
    p_query_dsl: "",
    p_ts_from: instants?.from,
    p_ts_to: instants?.to,
    p_name: path,
  }, { enabled: instants !== null, keep: true });
  const found = fields.data?.find((one) => one.field === path)?.values.map(({ value }) => value);
  const values = new Set([...found ?? [], ...chosen === "" ? [] : [chosen]]);
  return (
    <select
      aria-label={`$${name}`}
      value={chosen}
      onChange={(event) => change({ [parameterOf(name)]: event.target.value }, { replace: true })}
    >
      <option value="">{say("{name}: all", { name: `$${name}` })}</option>
      {[...values].map((value) => <option key={value} value={value}>{plain(value)}</option>)}
    </select>
  );
}
