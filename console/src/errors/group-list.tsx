import { useState } from "react";
import { change, useAddress } from "../address/address.ts";
import type { ErrorGroup } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { useMay, useNameOf } from "../service/roles.ts";
import { ScreenHead } from "../shared/basic-controls.tsx";
import { CheckField, Segments, SelectField } from "../shared/form-fields.tsx";
import { count } from "../shared/format-number.ts";
import { ago } from "../shared/format-time.ts";
import { type Column, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { ServiceField } from "../shared/service-field.tsx";
import { Sparkline } from "../shared/sparkline.tsx";
import { say, type Words } from "../shared/translate.ts";
import {
  allStates,
  GroupState,
  isChangeable,
  releasesOf,
  serviceOf,
  titleOf,
  usersOf,
} from "./error-words.tsx";
import { GroupChanges } from "./group-changes.tsx";

const filters = {
  unresolved: ["new", "regressed", "open"],
  resolved: ["resolved"],
  ignored: ["ignored"],
  all: allStates,
} satisfies Record<string, ErrorGroup["state"][]>;
type Filter = keyof typeof filters;
const filterNames = ["unresolved", "resolved", "ignored", "all"] as const;

const noSuch: Record<Filter, Words> = {
  unresolved: "No unresolved errors",
  resolved: "No resolved errors",
  ignored: "No ignored errors",
  all: "No errors yet",
};

const orders = [
  ["priority", "new first"],
  ["last_seen", "last seen"],
  ["first_seen", "first seen"],
  ["records", "most records"],
] as const satisfies [string, Words][];

/** The error groups in one state. Several can be changed at once. */
export function GroupList() {
  const { parameters } = useAddress();
  const filter = filterNames.find((one) => one === parameters.state) ?? "unresolved";
  const order = orders.find(([one]) => one === parameters.order)?.[0] ?? "priority";
  const service = parameters.service ?? "";
  // A viewer reads groups of the own records, without people.
  const isMember = useMay("member") === true;
  const [limit, setLimit] = useState(100);
  const list = useOperation("list_error_groups", {
    p_state: filters[filter],
    ...service === "" ? {} : { p_service: service },
    p_order: order,
    p_limit: limit,
  }, { keep: true, every: isMember ? 15_000 : 60_000 });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const groups = list.data ?? [];
  const changeable = isMember ? groups.filter(isChangeable) : [];
  const wanted = changeable.filter(({ fingerprint }) => chosen.has(fingerprint));
  const choose = (some: ErrorGroup[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const { fingerprint } of some) isOn ? next.add(fingerprint) : next.delete(fingerprint);
    setChosen(next);
  };
  const nameOf = useNameOf(groups.map(({ assigned_to }) => assigned_to));
  const columns: Column[] = [
    ...isMember ? [{ name: say("Choose"), is: "actions" } as const] : [],
    say("Error"),
    say("State"),
    say("Last 24 hours"),
    { name: say("Records"), is: "number" },
    { name: say("Users"), is: "number" },
    say("Last seen"),
    say("Releases"),
    ...isMember ? [say("Assigned to")] : [],
  ];
  return (
    <div className="page">
      <ScreenHead title={say("Errors")} about={isMember ? undefined : ownWords()} />
      <div className="filters">
        <Segments
          label={say("Show")}
          choices={filterNames.map((one) => [one, say(one)])}
          chosen={filter}
          onChoose={(one) => change({ state: one === "unresolved" ? "" : one })}
        />
        <ServiceField
          value={service}
          known={groups.map((one) => one.service)}
          onChange={(name) => change({ service: name })}
        />
        <SelectField
          label={say("Order")}
          value={order}
          onChange={(one) => change({ order: one === "priority" ? "" : one })}
        >
          {orders.map(([one, words]) => <option key={one} value={one}>{say(words)}</option>)}
        </SelectField>
        {changeable.length > 1 && (
          <CheckField
            label={say("Choose all")}
            checked={wanted.length === changeable.length}
            onChange={(isOn) => choose(changeable, isOn)}
          />
        )}
      </div>
      {wanted.length > 0 && (
        <GroupChanges
          groups={wanted}
          onDone={() => setChosen(new Set())}
          isAssigning
        />
      )}
      <ListTable
        answer={list}
        empty={{
          title: say(noSuch[filter]),
          about: service === "" ? aboutGroups() : say("Choose another service or state."),
        }}
        more={{ limit, onMore: () => setLimit(mostAtOnce) }}
        label={say("Errors")}
        columns={columns}
      >
        {(group) => (
          <GroupRow
            key={group.fingerprint}
            group={group}
            choose={isMember
              ? { isOn: chosen.has(group.fingerprint), set: (isOn) => choose([group], isOn) }
              : null}
            assigned={isMember ? nameOf(group.assigned_to) : null}
          />
        )}
      </ListTable>
    </div>
  );
}

const ownWords = () => say("Groups of the newest errors of the last 24 hours that you may read.");

const aboutGroups = () =>
  say(
    "Records of level error make groups: one for each kind of error and place in the code, or for similar messages. New records are looked at every ten seconds.",
  );

function GroupRow({ group, choose, assigned }: {
  group: ErrorGroup;
  choose: { isOn: boolean; set: (isOn: boolean) => void } | null;
  assigned: string | null;
}) {
  return (
    <tr>
      {choose && (
        <td>
          {isChangeable(group) && (
            <input
              type="checkbox"
              aria-label={say("Choose {name}", { name: titleOf(group) })}
              checked={choose.isOn}
              onChange={(event) => choose.set(event.target.checked)}
            />
          )}
        </td>
      )}
      <th scope="row">
        <button
          type="button"
          className="card-title"
          onClick={() => change({ group: group.fingerprint })}
        >
          {titleOf(group)}
        </button>
        <div className="about">{serviceOf(group)}</div>
      </th>
      <td>
        <GroupState group={group} />
      </td>
      <td className="trend">
        <Sparkline values={group.hours} colour="--level-error" />
      </td>
      <td className="number">{count(group.records)}</td>
      <td className="number">{usersOf(group)}</td>
      <td title={group.last_seen}>{ago(group.last_seen)}</td>
      <td>{releasesOf(group)}</td>
      {assigned !== null && <td>{group.assigned_to === null ? "–" : assigned}</td>}
    </tr>
  );
}
