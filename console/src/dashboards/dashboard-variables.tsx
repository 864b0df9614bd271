import { change, useAddress } from "../address/address.ts";
import type { Instants } from "../address/range.ts";
import { variablesOf, withVariables } from "../language/edit-query.ts";
import type { LogDashboard, LogPanel } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

const parameterOf = (name: string) => `var-${name}`;

/** A variable can have any name, also one that every object has, such as "constructor". */
function pinned(variables: LogDashboard["variables"], name: string): string | undefined {
  return variables && Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** The panels with values for their variables: those that the portal session pins, or those in the address. */
export function useFilledPanels({ panels, variables }: LogDashboard): LogPanel[] {
  const { parameters } = useAddress();
  const valueOf = (name: string) => pinned(variables, name) ?? parameters[parameterOf(name)] ?? "";
  return panels.map((panel) => ({ ...panel, query_dsl: withVariables(panel.query_dsl, valueOf) }));
}

/** A choice for each variable of the panels that is not pinned, with the frequent values of its field. */
export function DashboardVariables({ dashboard: { panels, variables }, instants }: {
  dashboard: LogDashboard;
  instants: Instants | null;
}) {
  const fields = new Map(panels.flatMap(({ query_dsl }) => variablesOf(query_dsl)));
  const free = [...fields].filter(([name]) => pinned(variables, name) === undefined);
  return free.map(([name, field]) => (
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
