import { Sentence } from "../shared/sentence.tsx";
import { type FormEvent, useState } from "react";
import { useChange } from "../service/operation-hooks.ts";
import type { Session } from "../service/session.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

/** For a user without a tenant: explains that, and offers to create one. */
export function NoTenant({ session }: { session: Session }) {
  const claims = session.claims();
  const [stays, setStays] = useState<string | null>(null);
  // A new token may name a tenant that the old one lacks.
  const renew = async (unchanged: string) => {
    const isNew = await session.renew();
    setStays(isNew ? unchanged : say("Sign in again: your next token names the tenant."));
  };
  return (
    <main className="gate">
      <div className="gate-box">
        <h1>{say("You belong to no tenant yet")}</h1>
        <p>
          <Sentence
            text="You are signed in as {user}, but your access token carries no {claim}. Logs belong to tenants, so there is nothing to show."
            values={{
              user: <strong>{claims?.email ?? claims?.user}</strong>,
              claim: <code>tenant_id</code>,
            }}
          />
        </p>
        <NewTenant
          onMade={() =>
            renew(
              say("The tenant was created, but your new token does not name it: check the hook."),
            )}
        />
        <p className="or-line">{say("or")}</p>
        <ul>
          <li>{say("Ask an owner of a tenant to add you as a member, then try again.")}</li>
          <li>
            {say(
              "If you run this project: check that the access-token hook is switched on, and that you are a member of a tenant.",
            )}
          </li>
        </ul>
        {stays && <p className="note warn" role="status">{stays}</p>}
        <div className="row">
          <Button onClick={() => void renew(say("Your token still has no tenant."))}>
            {say("Try again")}
          </Button>
          <Button look="quiet" onClick={() => session.signOut()}>{say("Sign out")}</Button>
        </div>
      </div>
    </main>
  );
}

function NewTenant({ onMade }: { onMade: () => Promise<void> }) {
  const [name, setName] = useState("");
  const create = useChange("create_tenant", []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ p_tenant_id: name.trim() }, { onSuccess: () => void onMade() });
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label={say("Create your own tenant, with a short name")}
        required
        maxLength={255}
        autoComplete="organization"
        value={name}
        onChange={setName}
      />
      <ErrorNote error={create.error} />
      <button type="submit" className="button primary" disabled={create.isPending}>
        {say("Create the tenant")}
      </button>
    </form>
  );
}
