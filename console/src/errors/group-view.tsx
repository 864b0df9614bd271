import { lazy, Suspense, useState } from "react";
import { change, go } from "../address/address.ts";
import { exactly } from "../language/edit-query.ts";
import type { ErrorGroup, ErrorGroupDetails } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { useIsCustomer, useMay } from "../service/roles.ts";
import { AnswerForm } from "../shared/answer-form.tsx";
import { Button, Empty, ScreenHead } from "../shared/basic-controls.tsx";
import { FactList } from "../shared/fact-list.tsx";
import { count } from "../shared/format-number.ts";
import { ago, shortTime } from "../shared/format-time.ts";
import { Loaded } from "../shared/list-table.tsx";
import { loadPart } from "../shared/load-part.ts";
import { usePreferences } from "../shared/preferences.ts";
import { EditQueryContext } from "../search/edit-query-context.ts";
import { RecordList } from "../search/record-list.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import {
  GroupState,
  isChangeable,
  releasesOf,
  serviceOf,
  titleOf,
  useGroupChange,
  usersOf,
} from "./error-words.tsx";
import { GroupChanges } from "./group-changes.tsx";
import { GroupCourse } from "./group-course.tsx";
import { Releases, Stack, Tags } from "./group-evidence.tsx";
import { placeOf } from "./group-query.ts";

const RuleDialog = lazy(() =>
  loadPart(() =>
    import("../alerts/rule-dialog.tsx").then(({ RuleDialog }) => ({ default: RuleDialog }))
  )
);

/** An error group: its course, who has it, its stack, releases, tags and newest records. */
export function GroupView({ fingerprint }: { fingerprint: string }) {
  const answer = useOperation("get_error_group", { p_fingerprint: fingerprint }, { every: 30_000 });
  return (
    <div className="page">
      <Loaded
        answer={answer}
        missing={
          <Empty title={say("This error is not there")}>
            <p>
              {say("It was merged into another, or none of its newest records is yours to read.")}
            </p>
            {back()}
          </Empty>
        }
      >
        {(details) => <GroupPage details={details} />}
      </Loaded>
    </div>
  );
}

const back = () => <Button onClick={() => change({ group: "" })}>{say("All errors")}</Button>;

function GroupPage({ details }: { details: ErrorGroupDetails }) {
  const { group } = details;
  const isMember = useMay("member") === true;
  // The portal's page of errors has no search beside it.
  const isCustomer = useIsCustomer();
  const place = placeOf(details);
  const update = useGroupChange();
  const search = (q = place.q) => go({ screen: "search", parameters: { ...place, q } });
  return (
    <>
      <ScreenHead
        title={titleOf(group)}
        about={
          <>
            <GroupState group={group} /> {serviceOf(group)}
            {group.error_type && ` · ${plain(group.error_type)}`}
          </>
        }
      >
        {back()}
        {!isCustomer && <Button onClick={() => search()}>{say("Show in search")}</Button>}
        {isMember && <TellButton group={group} />}
      </ScreenHead>
      {isMember && isChangeable(group) && (
        <GroupChanges
          groups={[group]}
          onMerged={(into) => change({ group: into })}
        />
      )}
      <GroupCourse
        details={details}
        onRange={isCustomer
          ? undefined
          : (range) => go({ screen: "search", parameters: { ...place, ...range } })}
      />
      <div className="incident-columns">
        <Facts group={group} />
        {isMember && isChangeable(group) && (
          <AnswerForm
            subject={group}
            update={update}
            parametersOf={(part) => ({ p_fingerprints: [group.fingerprint], ...part })}
          />
        )}
      </div>
      <Stack frames={details.stack} />
      <Tags
        details={details}
        onChoose={isCustomer ? undefined : (clause) => search(`${place.q} ${clause}`)}
      />
      <Releases details={details} />
      {details.newest.length > 0 && (
        <section className="block">
          <h2>{say("Newest records")}</h2>
          <EditQueryContext value={(edit) => search(edit(place.q))}>
            <RecordList records={details.newest} place={isCustomer ? null : place} />
          </EditQueryContext>
        </section>
      )}
      {details.merged !== null && details.merged.length > 0 && (
        <details>
          <summary>{say("{count} merged errors", { count: details.merged.length })}</summary>
          <p className="about">{say("Their records are counted here.")}</p>
          <code>{details.merged.join(", ")}</code>
        </details>
      )}
    </>
  );
}

function Facts({ group }: { group: ErrorGroup }) {
  const { zone } = usePreferences();
  const when = (ts: string) => `${shortTime(Date.parse(ts), zone)} (${ago(ts)})`;
  return (
    <FactList
      facts={[
        [say("First seen"), when(group.first_seen)],
        [say("Last seen"), when(group.last_seen)],
        [say("Records"), count(group.records)],
        [say("Users"), usersOf(group)],
        [say("Releases"), releasesOf(group)],
        ...group.resolved_at === null ? [] : [[say("Resolved"), when(group.resolved_at)] as const],
      ]}
    />
  );
}

/** Creates a rule for the errors of the group's service. */
function TellButton({ group }: { group: ErrorGroup }) {
  const [isOpen, setOpen] = useState(false);
  const { service } = group;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{say("Tell me about such errors")}</Button>
      {isOpen && (
        <Suspense>
          <RuleDialog
            initial={{
              kind: "new_error",
              query_dsl: service === null ? "*" : exactly("service", service),
              name: service === null
                ? say("New errors")
                : say("New errors in {service}", { service: plain(service) }),
            }}
            onClose={() => setOpen(false)}
            onSaved={({ rule_id }) =>
              go({ screen: "alerts", parameters: { tab: "rules", rule: rule_id } })}
          />
        </Suspense>
      )}
    </>
  );
}
