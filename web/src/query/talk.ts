/** A conversation as the page holds it: what was said goes to the server in order, and nothing that
 * was typed is lost when the server cannot be reached. Knows neither React nor HTTP. */

import { problem } from "@/api/problem";
import type { Chat, Draft, Problem } from "@/api/types";
import { ASKING } from "./standing";

export interface Server {
  read(chat: string): Promise<Chat>;
  say(chat: string, text: string): Promise<Chat>;
  edit(chat: string, draft: Draft): Promise<Chat>;
  /** Make a text in the query language the draft; nothing is asked. */
  fill(chat: string, question: string): Promise<Chat>;
  takeAnswer(chat: string, answer: string): Promise<Chat>;
}

export interface State {
  chat: Chat | null;
  /** The draft as the person sees it: ahead of the server while an edit is on its way. */
  draft: Draft | null;
  /** A message that is on its way. */
  pending: string | null;
  /** Whether anything is on its way or waits for more key strokes. */
  busy: boolean;
  problem: Problem | null;
  /** Whether the problem is an edit that cannot be: as long as it stands, nothing is asked. */
  refused: boolean;
}

const NOTHING: State = {
  chat: null,
  draft: null,
  pending: null,
  busy: false,
  problem: null,
  refused: false,
};

const CHANGED = problem(
  "the question was changed in another window",
  "look at it once more, and ask again",
  "changed",
);
const SILENCE = 400; // ms without a further edit before it is sent

type Work = (chat: Chat) => Promise<Chat>;

export class Talk {
  private state: State = NOTHING;
  private readonly listeners = new Set<() => void>();
  private tail: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private edited: Draft | null = null;
  private barred: Draft | null = null; // an edit that the server refused
  private timer: ReturnType<typeof setTimeout> | undefined;
  private repeat: (() => Promise<boolean>) | null = null;
  private safe = false;
  private readonly server: Server;
  private readonly asProblem: (error: unknown) => Problem;
  private readonly isRefusal: (error: unknown) => boolean;
  private readonly silence: number;

  /** `isRefusal`: whether the server understood, and would say the same again. */
  constructor(
    server: Server,
    asProblem: (error: unknown) => Problem,
    isRefusal: (error: unknown) => boolean,
    silence = SILENCE,
  ) {
    this.server = server;
    this.asProblem = asProblem;
    this.isRefusal = isRefusal;
    this.silence = silence;
  }

  readonly snapshot = (): State => this.state;

  readonly subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed);
    return () => this.listeners.delete(changed);
  };

  /** Begin with the conversation that `find` comes back with. */
  readonly open = (find: () => Promise<Chat>): Promise<boolean> =>
    this.queued(
      async (left: Chat | null) => {
        const found = await find();
        if (left !== null && left.id !== found.id) await this.leave(left);
        return found;
      },
      () => this.open(find),
    );

  /** An edit that waits belongs to the conversation that is left: it is sent there, and nowhere
   * else. One that cannot be stays behind. */
  private async leave(left: Chat): Promise<void> {
    clearTimeout(this.timer);
    while (this.edited !== null) {
      const draft = this.edited;
      try {
        if (draft !== this.barred) await this.server.edit(left.id, draft);
      } catch (error) {
        if (!this.isRefusal(error)) throw error;
      }
      clearTimeout(this.timer);
      if (this.edited === draft) this.edited = null;
    }
  }

  /** Say something; false when it did not reach the server, and `again` says it again. */
  readonly say = async (text: string): Promise<boolean> => {
    const said = text.trim();
    if (!said) return false;
    // Whoever goes on talking leaves an edit behind that cannot be.
    if (this.state.refused) this.drop();
    this.set({ pending: said });
    const begun = this.state.chat;
    const flushed = await this.flush();
    const done = flushed && (await this.sent(said, begun));
    this.set({ pending: null });
    return done;
  };

  private sent(text: string, begun: Chat | null, checking = false): Promise<boolean> {
    return this.queued(
      within(begun, async (chat) => {
        // A connection that was lost may have been lost on the way back.
        const now = checking ? await this.server.read(chat.id) : chat;
        const further = now.conversation.turns.slice(chat.conversation.turns.length);
        if (further.some((turn) => turn.who === "person" && turn.text === text)) return now;
        return this.server.say(chat.id, text);
      }),
      () => this.sent(text, begun, true),
      false, // whoever said it may have thought better of it
    );
  }

  /** Put a question into the draft. */
  readonly fill = async (question: string): Promise<boolean> => {
    if (this.state.refused) this.drop();
    const begun = this.state.chat;
    return (await this.flush()) && this.filled(question, begun);
  };

  private filled(question: string, begun: Chat | null): Promise<boolean> {
    return this.queued(
      within(begun, (chat) => this.server.fill(chat.id, question)),
      () => this.filled(question, begun),
    );
  }

  /** Change the draft: shown at once, sent when the person pauses. */
  readonly edit = (draft: Draft): void => {
    this.edited = draft;
    this.arm();
    this.set({ draft, busy: true });
  };

  private arm(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), this.silence);
  }

  /** Take back an edit that was refused. */
  readonly drop = (): void => {
    if (!this.state.refused) return;
    this.edited = null;
    this.repeat = null;
    this.set({ problem: null, refused: false });
  };

  /** Send the edit that waits, if there is one. */
  readonly flush = (): Promise<boolean> => {
    clearTimeout(this.timer);
    if (this.edited === null) return Promise.resolve(true);
    return this.queued(
      async (chat) => {
        const draft = this.edited;
        if (draft === null) return chat;
        const after = await this.server.edit(chat.id, draft).catch((error: unknown) => {
          if (this.isRefusal(error)) this.barred = draft;
          throw error;
        });
        if (this.edited === draft) this.edited = null;
        return after;
      },
      () => this.flush(),
    );
  };

  /** Ask what stands in the draft; also what was cancelled, failed or got lost. */
  readonly ask = async (): Promise<boolean> => {
    if (!(await this.flush())) return false;
    if (!(await this.unchanged())) return false;
    if (!ready(this.state.chat)) {
      const again = (chat: Chat) => this.server.edit(chat.id, chat.conversation.draft);
      if (!(await this.queued(again, () => this.ask()))) return false;
    }
    return ready(this.state.chat) ? this.say(ASKING) : false;
  };

  /** Whether the question is the one in sight: another window may have changed it. */
  private async unchanged(): Promise<boolean> {
    const seen = this.state.chat?.question;
    const look = (chat: Chat) => this.server.read(chat.id);
    if (!(await this.queued(look, () => this.ask()))) return false;
    if (this.state.chat?.question === seen) return true;
    this.set({ problem: CHANGED });
    return false;
  }

  /** The answer of the conversation as it is now, also when it comes after the next one is open. */
  readonly takeAnswer = (answer: string): Promise<boolean> =>
    this.answered(answer, this.state.chat);

  private answered(answer: string, begun: Chat | null): Promise<boolean> {
    return this.queued(
      within(begun, (chat) => this.server.takeAnswer(chat.id, answer)),
      () => this.answered(answer, begun),
    );
  }

  /** What was said in another window is there too; nothing that is under way here is disturbed. */
  readonly refresh = async (): Promise<void> => {
    const { chat, busy, problem } = this.state;
    if (chat === null || busy || problem !== null) return;
    try {
      const now = await this.server.read(chat.id);
      const idle = this.state.chat === chat && !this.state.busy;
      if (idle && JSON.stringify(now) !== JSON.stringify(chat)) this.set({ chat: now });
    } catch {
      // a server that is gone is told of elsewhere
    }
  };

  /** What failed, once more. */
  readonly again = (): Promise<boolean> => {
    const { repeat } = this;
    this.repeat = null;
    this.set({ problem: null, refused: false });
    return repeat === null ? Promise.resolve(true) : repeat();
  };

  /** What failed and does no harm twice, once more, without a word. */
  readonly recover = (): Promise<boolean> => {
    const { repeat, safe } = this;
    if (repeat === null || !safe || this.waiting > 0) return Promise.resolve(false);
    return repeat();
  };

  /** One thing after the other: the server sees everything in the order in which it was done. */
  private queued(work: Work, repeat: () => Promise<boolean>, safe = true): Promise<boolean> {
    this.waiting += 1;
    this.set({ busy: true });
    const done = this.tail.then(async () => {
      try {
        const chat = await work(this.state.chat as Chat);
        this.waiting -= 1;
        this.went(chat);
        return true;
      } catch (error) {
        this.waiting -= 1;
        this.repeat = repeat;
        this.safe = safe;
        const refused = this.edited !== null && this.isRefusal(error);
        this.set({ problem: this.asProblem(error), refused });
        return false;
      }
    });
    this.tail = done;
    return done;
  }

  private went(chat: Chat): void {
    if (this.edited !== null && this.state.refused) {
      this.set({ chat }); // an edit that cannot be still stands there, and so does why
      return;
    }
    if (this.edited !== null) this.arm();
    this.repeat = null;
    this.set({ chat, problem: null, refused: false });
  }

  private set(more: Partial<State>): void {
    const next = { ...this.state, ...more };
    next.draft = this.edited ?? next.chat?.conversation.draft ?? null;
    // An edit that could not be sent waits for the person, not for the server.
    const typing = this.edited !== null && next.problem === null;
    next.busy = this.waiting > 0 || next.pending !== null || typing;
    this.state = next;
    for (const changed of this.listeners) changed();
  }
}

/** Done in the conversation in which it was begun, even when another one is open by then. */
function within(begun: Chat | null, work: Work): Work {
  return async (chat) => {
    if (begun === null || begun.id === chat.id) return work(chat);
    await work(begun);
    return chat;
  };
}

/** Whether the question is finished and waits to be confirmed. */
export function ready(chat: Chat | null): boolean {
  return chat?.reply.expecting === "confirm" && !!chat.reply.query;
}

/** Whether a confirmed question is neither being answered nor answered. */
export function lost(chat: Chat): boolean {
  return !!chat.reply.run && !chat.job;
}

/** Whether the question was changed after it was asked: its answer is that to the old one. */
export function overtaken(chat: Chat): boolean {
  return !!chat.job && !chat.reply.run;
}
