import { VisuallyHidden } from "@mantine/core";
import { Fragment } from "react";
import { Fold } from "@/show/Fold";
import classes from "./chat.module.css";
import { afterAnswer, isNote, type Link, linksIn, type Piece, pieces, type Turn } from "./reply";

interface Props {
  turns: readonly Turn[];
  links: readonly Link[];
  /** A message that is on its way. */
  pending?: string | null;
  busy: boolean;
}

/** Everything that was said, the newest last. */
export function Turns({ turns, links, pending, busy }: Props) {
  return (
    <>
      {turns.map((turn, i) => (
        // Turns are only ever added at the end.
        // biome-ignore lint/suspicious/noArrayIndexKey: their place is what tells them apart
        <Fragment key={i}>
          {isNote(turn) ? (
            <span className={classes.note}>{turn.text.slice(1, -1)}</span>
          ) : (
            <Said turn={turn} />
          )}
          {turn.who === "person" ? <Taken links={linksIn(turn.text, links)} /> : null}
        </Fragment>
      ))}
      {pending ? <Said turn={{ who: "person", text: pending, answer: false }} pending /> : null}
      {busy ? (
        <div className={classes.turn} data-who="compass">
          <span className={classes.dots} aria-hidden>
            <span />
            <span />
            <span />
          </span>
          <VisuallyHidden>Compass is thinking</VisuallyHidden>
        </div>
      ) : null}
    </>
  );
}

/** An answer is shown beside the conversation: its words are there for whoever wants them. */
function Answered({ text }: { text: string }) {
  return (
    <div className={classes.turn} data-who="compass">
      <VisuallyHidden>Compass: </VisuallyHidden>
      <p>✓ Answered: the decision stands below the question.</p>
      <p className={classes.aside}>{afterAnswer(text)}</p>
      <Fold title="In words">
        <Pieces all={pieces(text).slice(0, -1)} />
      </Fold>
    </div>
  );
}

function Said({ turn, pending }: { turn: Turn; pending?: boolean }) {
  if (turn.answer) return <Answered text={turn.text} />;
  const said = pieces(turn.text);
  const items = said.filter((piece) => piece.as === "item");
  const [before, after] = split(said);
  return (
    <div className={classes.turn} data-who={turn.who} data-pending={pending || undefined}>
      <VisuallyHidden>{turn.who === "person" ? "You: " : "Compass: "}</VisuallyHidden>
      <Pieces all={before} />
      {items.length ? (
        <ul>
          {items.map((item) => (
            <li key={item.text}>{item.text}</li>
          ))}
        </ul>
      ) : null}
      <Pieces all={after} />
    </div>
  );
}

/** What stands before and behind the list of a message. */
function split(said: Piece[]): [Piece[], Piece[]] {
  const first = said.findIndex((piece) => piece.as === "item");
  if (first < 0) return [said, []];
  const rest = said.slice(first).filter((piece) => piece.as !== "item");
  return [said.slice(0, first), rest];
}

/** Prose, asides and formal text, one below the other. */
export function Pieces({ all }: { all: Piece[] }) {
  return all.map((piece, i) =>
    piece.as === "formal" ? (
      <pre
        // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes
        key={i}
        className={classes.formal}
        // A place that is pointed at needs its column: it scrolls instead of being broken.
        {...(piece.text.includes("\n") ? { "data-pointed": true, tabIndex: 0 } : {})}
      >
        {piece.text}
      </pre>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a message never changes
      <p key={i} className={piece.as === "aside" ? classes.aside : undefined}>
        {piece.text}
      </p>
    ),
  );
}

/** Which columns the words of a message were taken for. */
function Taken({ links }: { links: Link[] }) {
  if (links.length === 0) return null;
  return (
    <div className={classes.links}>
      {links.map((link) => (
        <div key={link.words}>
          {link.words} <span aria-hidden>→</span>
          <VisuallyHidden> taken for </VisuallyHidden> <b>{link.columns.join(" or ")}</b>
        </div>
      ))}
    </div>
  );
}
