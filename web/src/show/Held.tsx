import { Component, type ReactNode } from "react";
import { ProblemNote } from "./ProblemNote";
import { unshown } from "./unshown";

interface Props {
  children: ReactNode;
  /** What is shown: something else gets a try of its own. */
  at?: string;
}

interface State {
  failed: { error: unknown } | null;
  at: string | undefined;
}

/** A part that cannot be loaded or drawn leaves the rest of the page as it is. */
export class Held extends Component<Props, State> {
  override state: State = { failed: null, at: this.props.at };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failed: { error } };
  }

  static getDerivedStateFromProps({ at }: Props, state: State): State | null {
    return at === state.at ? null : { failed: null, at };
  }

  override render() {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    return (
      <ProblemNote
        error={unshown(failed.error)}
        // React and browsers remember what could not be loaded: only a new page asks again.
        onAgain={() => window.location.reload()}
        again="Load the page again"
      />
    );
  }
}
