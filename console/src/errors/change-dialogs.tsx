import { type ReactNode, useState } from "react";
import type { ErrorGroup } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { count } from "../shared/format-number.ts";
import { mostAtOnce } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import {
  allStates,
  type GroupChange,
  isChangeable,
  serviceOf,
  titleOf,
  useGroupChange,
} from "./error-words.tsx";

interface Props {
  groups: ErrorGroup[];
  onClose: () => void;
  onDone: () => void;
}

/** A form that changes groups, and says what that means. */
function ChangeDialog({ groups, title, action = title, changeOf, about, onClose, onDone, children }:
  & Props
  & {
    title: string;
    action?: string;
    changeOf: () => GroupChange;
    about: string;
    children: ReactNode;
  }) {
  const update = useGroupChange();
  return (
    <FormDialog
      title={title}
      action={action}
      error={update.error}
      isPending={update.isPending}
      onSubmit={() => {
        const change = changeOf();
        const changed = groups.map(({ fingerprint }) => fingerprint)
          .filter((one) => one !== change.p_merge_into);
        update.mutate({ p_fingerprints: changed, ...change }, { onSuccess: onDone });
      }}
      onClose={onClose}
    >
      {children}
      <p className="about">{about}</p>
    </FormDialog>
  );
}

/** Resolves groups that a release still has. */
export function ReleaseDialog(props: Props) {
  const known = props.groups.find(({ last_release }) => last_release !== null)?.last_release;
  const [release, setRelease] = useState(known ?? "");
  return (
    <ChangeDialog
      {...props}
      title={say("Resolve after a release")}
      action={say("Resolve")}
      about={say(
        "Records of this release and of earlier ones do not bring it back, later ones do.",
      )}
      changeOf={() => ({ p_state: "resolved", p_release: release })}
    >
      <TextField
        label={say("The last release that has the error")}
        required
        maxLength={200}
        value={release}
        onChange={setRelease}
      />
    </ChangeDialog>
  );
}

const lengths = [
  ["1", "A day"],
  ["7", "A week"],
  ["30", "Thirty days"],
  ["", "Until somebody reopens it"],
  ["time", "Until a time"],
] as const;

/** Ignores groups for some time, or until somebody reopens them. */
export function IgnoreDialog(props: Props) {
  const [length, setLength] = useState("1");
  const [time, setTime] = useState("");
  const end = () => length === "time" ? Date.parse(time) : Date.now() + Number(length) * 86_400_000;
  return (
    <ChangeDialog
      {...props}
      title={say("Ignore")}
      about={say("It is counted on, but nobody is notified.")}
      changeOf={() => ({
        p_state: "ignored",
        ...length === "" ? {} : { p_ignored_until: new Date(end()).toISOString() },
      })}
    >
      <SelectField label={say("How long")} value={length} onChange={setLength}>
        {lengths.map(([value, label]) => <option key={value} value={value}>{say(label)}</option>)}
      </SelectField>
      {length === "time" && (
        <TextField
          label={say("Until (local time)")}
          type="datetime-local"
          required
          value={time}
          onChange={setTime}
        />
      )}
    </ChangeDialog>
  );
}

/** Lets one group count the records of the others from now on. */
export function MergeDialog({ onMerged, ...props }: Props & { onMerged?: (into: string) => void }) {
  const { groups } = props;
  const all = useOperation("list_error_groups", { p_state: allStates, p_limit: mostAtOnce });
  const isOther = (one: ErrorGroup) =>
    isChangeable(one) && groups.every(({ fingerprint }) => fingerprint !== one.fingerprint);
  const [most] = groups.length > 1 ? groups.toSorted((a, b) => b.records - a.records) : [];
  const [into, setInto] = useState(most?.fingerprint ?? "");
  return (
    <ChangeDialog
      {...props}
      title={say("Merge")}
      about={say("It counts the records of the others from now on. This cannot be undone.")}
      changeOf={() => ({ p_merge_into: into })}
      onDone={() => {
        props.onDone();
        onMerged?.(into);
      }}
    >
      <SelectField label={say("Into")} required value={into} onChange={setInto}>
        <option value="">{say("choose")}</option>
        {[...most ? groups : [], ...all.data?.filter(isOther) ?? []].map((one) => (
          <option key={one.fingerprint} value={one.fingerprint}>
            {`${titleOf(one)} · ${serviceOf(one)} · ${count(one.records)}`}
          </option>
        ))}
      </SelectField>
    </ChangeDialog>
  );
}
