import type { ButtonHTMLAttributes, ReactNode } from "react";
import { LogloomError } from "../service/logloom.ts";
import { Icon, type IconName } from "./icons.tsx";
import { say } from "./translate.ts";

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  label: string;
}

/** A button with only an icon. Its label is also its tooltip. */
export function IconButton({ icon, label, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      className={`icon-button ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Classes besides `button`, such as `small` and `primary`. */
  look?: string;
}

/** A button with a text. */
export function Button({ look = "", ...rest }: ButtonProps) {
  return <button type="button" className={`button ${look}`.trim()} {...rest} />;
}

/** An error with its hint. */
export function ErrorNote({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null;
  const said = error instanceof Error ? error.message : String(error);
  const hint = error instanceof LogloomError ? error.hint : null;
  return (
    <div className="note error" role="alert">
      <p>
        <strong>{said}</strong>
        {hint && <span>&nbsp;{hint}</span>}
      </p>
      {retry && <Button look="small" onClick={retry}>{say("Try again")}</Button>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Placeholder lines while loading. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label={say("Loading")}>
      {Array.from({ length: lines }, (_, i) => <span key={i} className={`bone bone-${i % 4}`} />)}
    </div>
  );
}

export function Badge({ tone, children }: {
  tone: "plain" | "good" | "warn" | "bad" | "info";
  children: ReactNode;
}) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** The header of a screen. */
export function ScreenHead({ title, children, about }: {
  title: string;
  about?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <header className="screen-head">
      <div>
        <h1>{title}</h1>
        {about && <p className="about">{about}</p>}
      </div>
      <div className="screen-actions">{children}</div>
    </header>
  );
}
