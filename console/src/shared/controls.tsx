import { type ButtonHTMLAttributes, type ReactNode, useEffect, useRef, useState } from "react";
import { ServiceError } from "../service/errors.ts";
import { Icon, type IconName } from "./icons.tsx";

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  label: string;
}

/** A button with a picture alone; its name is its tooltip. */
export function IconButton(
  { icon, label, className = "", ...rest }: IconButtonProps,
) {
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

/** Copies a text and says that it did. */
export function CopyButton({ text, label = "Copy", icon = false }: {
  text: string | (() => string);
  label?: string;
  icon?: boolean;
}) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    await copyText(typeof text === "string" ? text : text());
    setDone(true);
  };
  if (icon) {
    return (
      <IconButton
        icon={done ? "check" : "copy"}
        label={done ? "Copied" : label}
        onClick={copy}
      />
    );
  }
  return (
    <button type="button" className="button small" onClick={copy}>
      <Icon name={done ? "check" : "copy"} />
      {done ? "Copied" : label}
    </button>
  );
}

async function copyText(text: string): Promise<void> {
  await navigator.clipboard?.writeText(text).catch(() => {});
}

/** A native modal dialog: Escape and a click beside it close it. */
export function Dialog({ title, onClose, children, wide = false }: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-inner">
        <header className="dialog-head">
          <h2>{title}</h2>
          <IconButton icon="close" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** An error where it happened, with what mends it. */
export function ErrorNote(
  { error, retry }: { error: unknown; retry?: () => void },
) {
  if (!error) return null;
  const said = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ServiceError ? error.hint : null;
  return (
    <div className="note error" role="alert">
      <p>
        <strong>{said}</strong>
        {hint && <span>&nbsp;{hint}</span>}
      </p>
      {retry && (
        <button type="button" className="button small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty(
  { title, children }: { title: string; children?: ReactNode },
) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** Lines that stand for what is on its way. */
export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from(
        { length: lines },
        (_, i) => <span key={i} className={`bone bone-${i % 4}`} />,
      )}
    </div>
  );
}

export function Badge({ tone, children }: {
  tone: "plain" | "good" | "warn" | "bad" | "info";
  children: ReactNode;
}) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

/** The head of a screen. */
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
