import type { Session } from "../service/session.ts";

/** Signed in, but the token names no tenant: nothing can be shown, and this says what is missing. */
export function NoTenant({ session }: { session: Session }) {
  const claims = session.claims();
  return (
    <main className="gate">
      <div className="gate-box">
        <h1>You belong to no tenant yet</h1>
        <p>
          You are signed in as{" "}
          <strong>{claims?.email ?? claims?.user}</strong>, but your access token carries no{" "}
          <code>tenant_id</code>. Logs belong to tenants, so there is nothing to show.
        </p>
        <ul>
          <li>
            Ask an owner of the tenant to add you as a member, then sign in again.
          </li>
          <li>
            If you run this project: check that the access-token hook is switched on, and that you
            are a member of a tenant.
          </li>
        </ul>
        <div className="row">
          <button
            type="button"
            className="button"
            onClick={() => location.reload()}
          >
            Try again
          </button>
          <button
            type="button"
            className="button quiet"
            onClick={() => session.signOut()}
          >
            Sign out
          </button>
        </div>
      </div>
    </main>
  );
}
