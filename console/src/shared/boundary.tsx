import { QueryClientContext } from "@tanstack/react-query";
import { Component, type ReactNode, useContext } from "react";
import { say } from "./words.ts";

interface Props {
  /** The missing part, as the beginning of a sentence. */
  what: string;
  /** A change of this value tries again: the displayed answer. */
  of?: unknown;
  /** Shown instead of a note. */
  instead?: ReactNode;
  children: ReactNode;
}

interface State {
  hasFailed: boolean;
  of: unknown;
}

/** A failing part of the page loses only its own place. */
export class Boundary extends Component<Props, State> {
  override state: State = { hasFailed: false, of: this.props.of };

  static getDerivedStateFromError(): Partial<State> {
    return { hasFailed: true };
  }

  static getDerivedStateFromProps({ of }: Props, state: State): State | null {
    return of === state.of ? null : { hasFailed: false, of };
  }

  override render(): ReactNode {
    const { what, instead, children } = this.props;
    if (!this.state.hasFailed) return children;
    if (instead !== undefined) return instead;
    return (
      <BrokenPart
        what={what}
        onAgain={() => this.setState({ hasFailed: false })}
      />
    );
  }
}

function BrokenPart({ what, onAgain }: { what: string; onAgain: () => void }) {
  const queries = useContext(QueryClientContext);
  return (
    <div className="note error" role="alert">
      <p>
        <strong>{say("{what} cannot be shown.", { what })}</strong>{" "}
        {say("The answer contains something that this page does not understand.")}
      </p>
      <button
        type="button"
        className="button small"
        onClick={() => {
          // Without a new request the answer would be the same.
          queries?.removeQueries({ type: "inactive" });
          void queries?.invalidateQueries();
          onAgain();
        }}
      >
        {say("Try again")}
      </button>
    </div>
  );
}
