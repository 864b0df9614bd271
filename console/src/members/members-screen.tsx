import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { Member, Role } from "../service/logloom.ts";
import { roles, useMay, useMembers } from "../service/roles.ts";
import { useSession } from "../service/session.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button, Empty, ErrorNote, ScreenHead } from "../shared/basic-controls.tsx";
import { FormDialog } from "../shared/dialog.tsx";
import { ago } from "../shared/format-time.ts";
import { actions, ListTable } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { say, type Words } from "../shared/translate.ts";

const may: Record<Role, Words> = {
  owner: "everything, members too",
  admin: "also keys, settings and deletion",
  member: "reads, searches, keeps saved searches and alert rules",
  viewer: "reads within a view",
};

export default function MembersScreen() {
  const me = useSession().claims()?.user;
  const [isNew, setNew] = useState(false);
  const [toDelete, setToDelete] = useState<Member | null>(null);
  const members = useMembers();
  const mayChange = useMay("owner");
  const owners = members.data?.filter(({ role }) => role === "owner").length;
  // A tenant with members keeps at least one owner.
  const isLastOwner = ({ role }: Member) => role === "owner" && owners === 1;
  const touched = ["list_tenant_members", "list_log_tenants"] as const;
  const set = useChange("set_tenant_member_role", touched);
  const remove = useChange("remove_tenant_member", touched);
  return (
    <div className="page">
      <ScreenHead
        title={say("Members")}
        about={[
          say("Who belongs to this tenant, and what they may do."),
          mayChange === false && say("Only owners can change this."),
        ].filter(Boolean).join(" ")}
      >
        {members.data && mayChange && (
          <Button look="primary" onClick={() => setNew(true)}>{say("Add a member")}</Button>
        )}
      </ScreenHead>
      <ErrorNote error={set.error} />
      <ListTable
        answer={members}
        // PostgREST answers 404 if the operation does not exist.
        missing={
          <Empty title={say("This project's database does not manage members yet")}>
            <p>{say("Apply the migrations, or manage members in the SQL editor.")}</p>
          </Empty>
        }
        empty={{
          title: say("This tenant does not use roles"),
          about: say("Every user may do everything until you add the first member."),
        }}
        label={say("Members")}
        columns={[say("User"), say("Role"), say("Since"), actions]}
      >
        {(member) => (
          <tr key={member.user_id}>
            <th scope="row">
              {plain(member.email ?? "")}{" "}
              {member.user_id === me && <Badge tone="info">{say("you")}</Badge>}
              <code className="cell-code">{member.user_id}</code>
            </th>
            <td>
              {mayChange && !isLastOwner(member)
                ? (
                  <select
                    aria-label={say("Role of {user}", { user: member.email ?? member.user_id })}
                    value={member.role}
                    disabled={set.isPending}
                    onChange={(event) =>
                      set.mutate({ p_user_id: member.user_id, p_role: event.target.value as Role })}
                  >
                    {member.role === "viewer" && <option value="viewer">{say("viewer")}</option>}
                    {roles.map((role) => <option key={role} value={role}>{say(role)}</option>)}
                  </select>
                )
                : <span>{say(member.role)}</span>}
              <span className="about role-words">{may[member.role]}</span>
            </td>
            <td>{ago(member.created_at)}</td>
            <td className="tools">
              {mayChange && !isLastOwner(member) && (
                <Button
                  look="small danger"
                  onClick={() => setToDelete(member)}
                >
                  {say("Remove")}
                </Button>
              )}
            </td>
          </tr>
        )}
      </ListTable>
      {isNew && <NewMember onClose={() => setNew(false)} />}
      {toDelete && (
        <Confirm
          title={say("Remove the member?")}
          action={say("Remove")}
          change={remove}
          parameters={{ p_user_id: toDelete.user_id }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="{user} no longer has access to this tenant."
            values={{ user: plain(toDelete.email ?? toDelete.user_id) }}
            strong
          />
        </Confirm>
      )}
    </div>
  );
}

function NewMember({ onClose }: { onClose: () => void }) {
  const [who, setWho] = useState("");
  // A role, or the view's id for a viewer.
  const [role, setRole] = useState("member");
  const views = useOperation("list_log_views", {});
  const add = useChange("add_tenant_member", ["list_tenant_members"]);
  return (
    <FormDialog
      title={say("Add a member")}
      action={say("Add")}
      error={add.error}
      isPending={add.isPending}
      onSubmit={() => {
        const text = who.trim();
        const whom = text.includes("@") ? { p_email: text } : { p_user_id: text };
        const asked = roles.find((one) => one === role);
        const what = asked ? { p_role: asked } : { p_role: "viewer" as const, p_view_id: role };
        add.mutate({ ...whom, ...what }, { onSuccess: onClose });
      }}
      onClose={onClose}
    >
      <TextField label={say("Email address or user id")} required value={who} onChange={setWho} />
      <SelectField label={say("Role")} value={role} onChange={setRole}>
        {roles.map((one) => <option key={one} value={one}>{`${say(one)}: ${say(may[one])}`}
        </option>)}
        {views.data?.map(({ view_id, name }) => (
          <option key={view_id} value={view_id}>
            {say("viewer: reads within {view}", { view: plain(name) })}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}
