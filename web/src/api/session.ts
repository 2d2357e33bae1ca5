/** Who is asking: the token that the operator gave out, and the key of one's own workspace. */
import { forGood } from "./stored";

const TOKEN = "compass.token";
const KEYS = "compass.workspaces";

const listeners = new Set<() => void>();

let token = forGood.get(TOKEN);
// All keys that this browser ever got, the one in use first: another server on the same address may
// know another one, and a key that is thrown away cannot be told again.
let keys = storedKeys();
const unknown = new Set<string>();
let refused = false;

function storedKeys(): string[] {
  return (forGood.get(KEYS) ?? "").split(" ").filter(Boolean);
}

/** The keys in this order, then those that other tabs have kept meanwhile. */
function withOthers(first: readonly string[]): string[] {
  return [...new Set([...first, ...storedKeys()])];
}

/** The token of `#token=...`; one that is not encoded as it should be is taken as it stands. */
export function tokenOf(hash: string): string | null {
  const found = /^#token=([^&]+)/.exec(hash)?.[1];
  if (!found) return null;
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}

/**
 * A link with `#token=...` lets people in without typing; what is behind # is sent to nobody.
 * It does not stay in the address. Whether there was one.
 */
export function takeTokenFromLink(): boolean {
  const found = tokenOf(location.hash);
  if (found === null) return false;
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
  setToken(found);
  return true;
}

export const session = {
  token: () => token,
  key: () => keys.find((one) => !unknown.has(one)) ?? null,
  /** Whether the server said that a token is lacking or wrong. */
  refused: () => refused,
  subscribe(changed: () => void): () => void {
    listeners.add(changed);
    return () => listeners.delete(changed);
  },
};

export function setToken(given: string): void {
  token = given.trim() || null;
  refused = false;
  forGood.set(TOKEN, token);
  tell();
}

export function addKey(key: string): void {
  unknown.delete(key); // whoever gives it again has learnt that the server knows it
  keys = withOthers([key, ...keys]);
  forGood.set(KEYS, keys.join(" "));
  tell();
}

/** The key to use, also if another tab has got it since this page was opened. */
export function keyOfAnyTab(): string | null {
  const mine = session.key();
  if (mine !== null) return mine;
  keys = withOthers(keys);
  const found = session.key();
  if (found !== null) tell();
  return found;
}

/** The server does not know this key; it is kept for the one that does. */
export function keyRefused(key: string): void {
  unknown.add(key);
}

export function tokenRefused(): void {
  if (refused) return;
  refused = true;
  tell();
}

function tell(): void {
  for (const changed of listeners) changed();
}
